/**
 * Lets timers, signals and other work of the process run between calls. A call to SQLite blocks the process,
 * and a thousand calls made at once would run one after another without a pause. So after some time of work,
 * the calls wait for a turn of the event loop.
 */
import { turn } from "../../env/timers.ts";

/** Work is done in stretches of about this length. */
const STRETCH_MS = 10;

export class Breath {
  readonly #now: () => number;
  #workedMs = 0;
  #turn: Promise<void> | undefined;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** True if it is time for a pause. Check it right before the work: other calls may have worked since. */
  get isDue(): boolean {
    return this.#workedMs > STRETCH_MS;
  }

  pause(): Promise<void> {
    this.#turn ??= turn().then(() => {
      this.#workedMs = 0;
      this.#turn = undefined;
    });
    return this.#turn;
  }

  measured<T>(work: () => T): T {
    const since = this.#now();
    try {
      return work();
    } finally {
      this.#workedMs += this.#now() - since;
    }
  }
}
