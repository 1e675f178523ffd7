/** Named timers, each running at most once at a time. */

/** What is longer than this, Node takes for no time at all: 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

export class Timers {
  readonly #timers = new Map<string, NodeJS.Timeout | undefined>();
  #closed = false;

  /** Null: never. One that runs already goes on as it is. */
  start(name: string, ms: number | null, over: () => void): void {
    if (this.#closed || this.#timers.has(name)) return;
    this.#timers.set(name, ms === null ? undefined : setTimeout(over, Math.min(ms, LONGEST_MS)));
  }

  has(name: string): boolean {
    return this.#timers.has(name);
  }

  stop(name: string): void {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
  }

  /** Stops all, and starts no more. */
  close(): void {
    this.#closed = true;
    for (const name of [...this.#timers.keys()]) this.stop(name);
  }
}
