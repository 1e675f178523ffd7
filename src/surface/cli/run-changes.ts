/**
 * Tells whether a run has changed since the last look. If the feed breaks off, the run is looked at from time
 * to time instead.
 */
import type { Sluice } from "../../api/sluice.ts";
import { sleep } from "../../env/timers.ts";

export class RunChanges {
  readonly #leaving = new AbortController();
  #hasChanged = false;
  #wake: (() => void) | undefined;
  readonly #reading: Promise<void>;

  constructor(sluice: Sluice, run: string) {
    this.#reading = this.#read(sluice, run).catch(() => {});
  }

  async #read(sluice: Sluice, run: string): Promise<void> {
    for await (const _ of sluice.changes({ run, signal: this.#leaving.signal })) {
      this.#hasChanged = true;
      this.#wake?.();
    }
  }

  /** Waits for a pause, then until something has changed, or until it has been quiet for this long. */
  async next(pauseMs: number, quietMs: number): Promise<void> {
    await sleep(pauseMs);
    if (!this.#hasChanged) {
      const quiet = new AbortController();
      const changed = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await Promise.race([changed, sleep(quietMs, quiet.signal)]);
      quiet.abort();
    }
    this.#hasChanged = false;
  }

  async close(): Promise<void> {
    this.#leaving.abort();
    await this.#reading;
  }
}
