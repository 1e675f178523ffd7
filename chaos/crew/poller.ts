/** Looks on without touching: a snapshot every tenth of a second, how much is in line, and how noisy the machine is. */
import { backlog, takeSnapshot } from "../audit/tables.ts";
import type { Impairment, Snapshot } from "../history.ts";
import type { Place } from "../place/place.ts";
import type { Feeder } from "./feeder.ts";

const EVERY_MS = 100;
/** A machine that wakes us so much too late wakes others too late as well. */
const NOISE_MS = 250;

export class Poller {
  readonly snapshots: Snapshot[] = [];
  readonly noise: Impairment[] = [];
  readonly #enough: number;
  readonly #place: Place;
  readonly #feeder: Feeder;
  readonly #stopping = new AbortController();
  readonly #looking: Promise<void>;
  readonly #ear: NodeJS.Timeout;

  /** `enough`: with so many in line, no more are enqueued. */
  constructor(place: Place, feeder: Feeder, enough: number) {
    this.#enough = enough;
    this.#place = place;
    this.#feeder = feeder;
    this.#looking = this.#look();
    let last = Date.now();
    this.#ear = setInterval(() => {
      const now = Date.now();
      if (now - last > NOISE_MS) this.noise.push({ pid: 0, why: "noise", from: last, to: now });
      last = now;
    }, 50);
  }

  async #look(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        this.snapshots.push(await takeSnapshot(this.#place));
        this.#feeder.held = (await backlog(this.#place)).waiting > this.#enough;
      } catch {
        // Away for longer than our patience: there is nothing to see.
      }
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#ear);
    await this.#looking;
  }
}
