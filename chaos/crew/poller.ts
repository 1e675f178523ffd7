/** Watches without interfering: takes a snapshot every tenth of a second and reads how much is in line. */
import { backlog, takeSnapshot } from "../audit/tables.ts";
import type { Snapshot } from "../history.ts";
import type { Place } from "../place/place.ts";
import type { Feeder } from "./feeder.ts";

const EVERY_MS = 100;

export class Poller {
  readonly snapshots: Snapshot[] = [];
  readonly #enough: number;
  readonly #place: Place;
  readonly #feeder: Feeder;
  readonly #stopping = new AbortController();
  readonly #looking: Promise<void>;

  /** Enqueueing pauses while more than `enough` are in line. */
  constructor(place: Place, feeder: Feeder, enough: number) {
    this.#enough = enough;
    this.#place = place;
    this.#feeder = feeder;
    this.#looking = this.#look();
  }

  async #look(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        this.snapshots.push(await takeSnapshot(this.#place));
        this.#feeder.held = (await backlog(this.#place)).waiting > this.#enough;
      } catch {
        // The store was away for longer than our patience, so there is nothing to see.
      }
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#looking;
  }
}
