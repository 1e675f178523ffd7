/**
 * One of the places for a child. If its child dies, another takes the place. If the first child never became
 * ready, the start has failed, and no other is tried.
 */
import { sleep } from "../../env/timers.ts";
import type { StoredError } from "../executor.ts";
import type { ChildWatch } from "./child.ts";
import { Child } from "./child.ts";
import type { Death } from "./death.ts";
import { diedYoung, pauseAfter } from "./pause.ts";
import type { SpawnOptions } from "./spawn.ts";

interface SeatWatch extends ChildWatch {
  ready(child: Child): void;
  died(death: Death, hasSuccessor: boolean): void;
}

export class ChildSeat {
  readonly #options: SpawnOptions;
  readonly #watch: SeatWatch;
  #child: Child;
  #young = 0;
  #hasStarted = false;
  #left = false;
  readonly #cutPause = new AbortController();
  readonly #kept: Promise<void>;

  constructor(options: SpawnOptions, watch: SeatWatch) {
    this.#options = options;
    this.#watch = watch;
    this.#child = this.#fill();
    this.#kept = this.#keep();
  }

  get child(): Child {
    return this.#child;
  }

  /** Like `leave`, but does not wait for running code. A child without jobs leaves by itself. */
  async end(reason: StoredError): Promise<void> {
    if (this.#child.load > 0) this.#child.end();
    await this.leave(reason);
  }

  /** Ends the child and lets no other take its place. */
  async leave(reason: StoredError): Promise<void> {
    this.#left = true;
    this.#cutPause.abort();
    await this.#child.leave(reason);
    await this.#kept;
  }

  async #keep(): Promise<void> {
    for (;;) {
      const death = await this.#child.gone;
      this.#hasStarted ||= death.readyMs !== undefined;
      this.#watch.died(death, this.#hasStarted && !this.#left);
      if (!this.#hasStarted) return;
      this.#young = diedYoung(death) ? this.#young + 1 : 0;
      const ms = pauseAfter(this.#young, Math.random());
      if (ms > 0) await sleep(ms, this.#cutPause.signal);
      if (this.#left) return;
      this.#child = this.#fill();
    }
  }

  #fill(): Child {
    const child = new Child(this.#options, this.#watch);
    child.ready.then(
      () => this.#watch.ready(child),
      () => {},
    );
    return child;
  }
}
