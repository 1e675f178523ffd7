/**
 * A loop that looks when it is told to and, as a safety net, every so often: one look at a time, and one more when it was
 * told during a look. A look that fails is reported and followed by a pause; nothing ends a loop but `stop`.
 */
import type { Env } from "./env.ts";
import type { Service } from "./service.ts";

export interface LoopOptions {
  /** Answers when to look again at the latest; the poll when it says nothing. */
  readonly look: () => Promise<number | undefined>;
  readonly pollMs: number;
  readonly jitterMs: number;
  readonly failed?: ((error: unknown) => void) | undefined;
}

export class Loop implements Service {
  readonly #env: Env;
  readonly #options: LoopOptions;
  #cancel: (() => void) | undefined;
  #looking: Promise<void> | undefined;
  #again = false;
  #stopped = true;

  constructor(env: Env, options: LoopOptions) {
    this.#env = env;
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#stopped = false;
    this.wake();
  }

  /** Harmless at any time. */
  wake(): void {
    if (this.#stopped) return;
    if (this.#looking) {
      this.#again = true;
      return;
    }
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined;
      if (!this.#again) return;
      this.#again = false;
      this.wake();
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel?.();
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { look, pollMs, jitterMs, failed } = this.#options;
    const poll = pollMs + this.#env.random() * jitterMs;
    let next = poll;
    try {
      next = Math.min(poll, (await look()) ?? poll);
    } catch (error) {
      failed?.(error);
    }
    if (this.#stopped) return;
    this.#cancel?.();
    this.#cancel = this.#env.after(Math.max(0, Math.ceil(next)), () => this.wake());
  }
}
