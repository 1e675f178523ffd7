/**
 * A loop that looks when it is woken and, as a safety net, every so often. It makes one look at a time, and
 * one more if it was woken during a look. A failed look is reported and followed by a pause; only `stop` ends
 * a loop.
 */
import type { Env } from "../env/env.ts";
import { turn } from "../env/timers.ts";
import type { Service } from "./service.ts";

/** How often a loop looks without being woken, and where it reports errors. */
export interface Polling {
  readonly pollMs: number;
  readonly jitterMs: number;
  readonly failed?: ((error: unknown) => void) | undefined;
}

/** Returns the most milliseconds until the next look, 0 for a look at once, or undefined for the usual poll. */
type LookOnce = () => Promise<number | undefined>;

export class Loop implements Service {
  readonly #env: Env;
  readonly #polling: Polling;
  readonly #lookOnce: LookOnce;
  #cancel: (() => void) | undefined;
  #looking: Promise<void> | undefined;
  #again = false;
  #stopped = true;

  constructor(env: Env, polling: Polling, lookOnce: LookOnce) {
    this.#env = env;
    this.#polling = polling;
    this.#lookOnce = lookOnce;
  }

  /** Resolves after the first look, even if it failed. A caller need not wait for it. */
  async start(): Promise<void> {
    this.#stopped = false;
    this.wake();
    await this.#looking;
  }

  /** Harmless at any time. */
  wake(): void {
    if (this.#stopped) return;
    if (this.#looking) {
      this.#again = true;
      return;
    }
    this.#looking = this.#lookAll().finally(() => {
      this.#looking = undefined;
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel?.();
    await this.#looking;
  }

  /** Repeats as often as it was woken meanwhile, and lets timers and signals run in between. */
  async #lookAll(): Promise<void> {
    for (;;) {
      this.#again = false;
      await this.#look();
      if (!this.#again || this.#stopped) return;
      await turn();
    }
  }

  async #look(): Promise<void> {
    const { pollMs, jitterMs, failed } = this.#polling;
    const poll = pollMs + this.#env.random() * jitterMs;
    let next = poll;
    try {
      next = Math.min(poll, (await this.#lookOnce()) ?? poll);
    } catch (error) {
      failed?.(error);
    }
    if (this.#stopped) return;
    this.#cancel?.();
    if (next <= 0) this.#again = true;
    else this.#cancel = this.#env.after(Math.ceil(next), () => this.wake());
  }
}
