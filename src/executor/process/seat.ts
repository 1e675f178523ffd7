/**
 * One of the places for a child. When the child in it dies, another takes the place; but an app whose first child
 * never became ready is not tried again, because then the start has failed.
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

  /** The same without waiting for code that runs; a child in which none does leaves by itself. */
  async end(reason: StoredError): Promise<void> {
    if (this.#child.load > 0) this.#child.end();
    await this.leave(reason);
  }

  /** Nobody comes after the child that is in it. */
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
