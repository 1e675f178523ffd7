/**
 * Decides when to look at the feed: soon after a hint, and without hints less and less often, but at least
 * once a second.
 */
import type { Cancel, Env } from "../../env/env.ts";

/** Hints that arrive close together cause one look. */
const HINT_MS = 10;
const FIRST_MS = 10;
const MOST_MS = 1_000;

export class Pace {
  readonly #env: Env;
  readonly #wake: () => void;
  #pauseMs = FIRST_MS;
  #cancel: Cancel | undefined;

  constructor(env: Env, wake: () => void) {
    this.#env = env;
    this.#wake = wake;
  }

  hasten(): void {
    this.#pauseMs = FIRST_MS;
  }

  soon(): void {
    this.#cancel ??= this.#env.after(HINT_MS, () => {
      this.#cancel = undefined;
      this.#wake();
    });
  }

  /** The time until the next look. */
  next(isSomething: boolean): number {
    this.#pauseMs = isSomething ? FIRST_MS : Math.min(MOST_MS, this.#pauseMs * 1.5);
    return this.#pauseMs;
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
