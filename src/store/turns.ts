/**
 * The line for the connections of this process. The line is ours and not the driver's, for three reasons:
 *
 * - The worker goes first. Otherwise a burst of calls in its own process would hold up its renewals and
 *   passes, and its lease would run out. One turn is kept free for it.
 * - Waiting for our own connections is not a fault of the server, so it has no timeout.
 * - Calls that still wait when the store is closed are refused at once. Calls that have a connection, or have
 *   asked the driver for one, finish before the pool is ended: a driver may forget those that asked.
 */
import { closed } from "./lifetime.ts";

interface Waiting {
  resolve(): void;
  reject(error: unknown): void;
}

export class Turns {
  readonly #most: number;
  #taken = 0;
  #isOver = false;
  #allEnded: (() => void) | undefined;
  readonly #first: Waiting[] = [];
  readonly #others: Waiting[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  async during<T>(isFirst: boolean, work: () => Promise<T>): Promise<T> {
    await this.#take(isFirst);
    try {
      return await work();
    } finally {
      this.#taken -= 1;
      if (this.#taken === 0) this.#allEnded?.();
      this.#next();
    }
  }

  /** Refuses all who wait, and all who come later. Resolves once all who work have ended. To be called once. */
  async close(): Promise<void> {
    this.#isOver = true;
    for (const { reject } of [...this.#first.splice(0), ...this.#others.splice(0)]) reject(closed());
    if (this.#taken === 0) return;
    await new Promise<void>((resolve) => {
      this.#allEnded = resolve;
    });
  }

  #take(isFirst: boolean): Promise<void> {
    if (this.#isOver) return Promise.reject(closed());
    return new Promise((resolve, reject) => {
      (isFirst ? this.#first : this.#others).push({ resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    for (;;) {
      const next = this.#whose();
      if (!next) return;
      this.#taken += 1;
      next.resolve();
    }
  }

  #whose(): Waiting | undefined {
    if (this.#taken < this.#most && this.#first.length > 0) return this.#first.shift();
    return this.#taken < Math.max(1, this.#most - 1) ? this.#others.shift() : undefined;
  }
}
