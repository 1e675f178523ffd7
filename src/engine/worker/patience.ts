/** Waits until a worker is idle, but no longer than the given time. Each phase of a stop has its own wait. */
import type { Cancel, Env } from "../../env/env.ts";
import type { Machine } from "./machine.ts";
import type { Phase } from "./state.ts";

export class Patience {
  readonly #env: Env;
  readonly #machine: Machine;
  readonly #isIdle: () => boolean;
  #cancel: Cancel | undefined;
  /** The phase that waits, and until when. */
  #waiting: { readonly phase: Phase; readonly until: number } | undefined;

  constructor(env: Env, machine: Machine, isIdle: () => boolean) {
    this.#env = env;
    this.#machine = machine;
    this.#isIdle = isIdle;
  }

  /** If called again within a phase, it waits no longer than before. */
  wait(ms: number): void {
    const { phase } = this.#machine.state;
    const until = this.#env.monotonic() + ms;
    if (this.#waiting?.phase === phase && this.#waiting.until <= until) return;
    this.#cancel?.();
    this.#waiting = { phase, until };
    if (this.#isIdle()) {
      this.#machine.happened("idle");
      return;
    }
    this.#cancel = this.#env.after(
      Math.max(0, ms),
      () => {
        // If the worker became idle, it has moved on meanwhile.
        if (this.#machine.state.phase === phase) this.#machine.happened("graceOver");
      },
      { keepsAlive: true },
    );
  }

  end(): void {
    this.#cancel?.();
    this.#waiting = undefined;
  }
}
