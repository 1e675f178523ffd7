/** Named timers, each started at most once. */

/** What is longer than this, Node takes for no time at all: 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

export class Timers {
  readonly #timers = new Map<string, NodeJS.Timeout>();

  start(name: string, ms: number, over: () => void): void {
    if (!this.#timers.has(name)) this.#timers.set(name, setTimeout(over, Math.min(ms, LONGEST_MS)));
  }

  has(name: string): boolean {
    return this.#timers.has(name);
  }

  stop(name: string): void {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
  }

  clear(): void {
    for (const name of [...this.#timers.keys()]) this.stop(name);
  }
}
