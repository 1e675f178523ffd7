/** Everything that faults act on, and the counts of what they really did. */
import type { Crew } from "../crew/crew.ts";
import type { Eyewitness } from "../crew/eyewitness.ts";
import type { Feeder } from "../crew/feeder.ts";
import type { Product } from "../crew/product.ts";
import type { Place } from "../place/place.ts";

export interface Scene {
  readonly place: Place;
  readonly product: Product;
  readonly crew: Crew;
  readonly feeder: Feeder;
  readonly witness: Eyewitness;
  readonly done: Done;
  /** The units cancelled on purpose: tasks, runs, and runs with a cancelled step. */
  readonly cancelled: Set<string>;
}

/** How often each fault was really done. A schedule alone proves nothing. */
export class Done {
  readonly #counts = new Map<string, number>();

  add(what: string, times = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + times);
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  toString(): string {
    return [...this.#counts].map(([what, times]) => `${times} ${what}`).join(", ");
  }
}
