/** How often the feed is looked at: soon after a hint, and without hints ever less often, once a second at the least. */
import type { Cancel, Env } from "../../env/env.ts";

/** Hints that come close together are one look. */
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

  /** After a look: how long until the next one. */
  next(isSomething: boolean): number {
    this.#pauseMs = isSomething ? FIRST_MS : Math.min(MOST_MS, this.#pauseMs * 1.5);
    return this.#pauseMs;
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
