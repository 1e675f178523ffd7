/** Named timers, each running at most once at a time. */
import type { Cancel } from "../../env/env.ts";
import { after } from "../../env/timers.ts";

export class Timers {
  readonly #timers = new Map<string, Cancel | undefined>();
  #closed = false;

  /** Null means never. A timer that already runs is left alone. */
  start(name: string, ms: number | null, over: () => void): void {
    if (this.#closed || this.#timers.has(name)) return;
    this.#timers.set(name, ms === null ? undefined : after(ms, over, { keepsAlive: true }));
  }

  has(name: string): boolean {
    return this.#timers.has(name);
  }

  stop(name: string): void {
    this.#timers.get(name)?.();
    this.#timers.delete(name);
  }

  /** Stops all timers and starts no more. */
  close(): void {
    this.#closed = true;
    for (const name of [...this.#timers.keys()]) this.stop(name);
  }
}
