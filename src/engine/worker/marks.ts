/**
 * Tells the store after a moment which code has started. Code that ends before that is only reported as
 * finished.
 */
import type { Env } from "../../env/env.ts";
import type { ActiveSlots } from "./active.ts";
import type { Holdings } from "./holdings.ts";
import type { Machine } from "./machine.ts";

export class Marks {
  readonly #holdings: Holdings;
  readonly #env: Env;
  readonly #machine: Machine;
  readonly #afterMs: number;
  #isPlanned = false;

  constructor(holdings: Holdings, env: Env, machine: Machine, afterMs: number) {
    this.#holdings = holdings;
    this.#env = env;
    this.#machine = machine;
    this.#afterMs = afterMs;
  }

  /** Claims whose code has run long enough to be reported. */
  get due(): ActiveSlots[] {
    const begunBy = this.#env.monotonic() - this.#afterMs;
    return this.#holdings.unmarked.filter(({ begunAt = 0 }) => begunAt <= begunBy);
  }

  /** Code has started. */
  soon(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    this.#env.after(this.#afterMs, () => {
      this.#isPlanned = false;
      if (this.due.length > 0) this.#machine.happened("toSay");
      if (this.#holdings.unmarked.length > 0) this.soon();
    });
  }
}
