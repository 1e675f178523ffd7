/**
 * Bounds how long a large ask is overtaken at its pools. Only the head of a lane counts its overtakers, only
 * while one of its pools is in its way, and only until it is over the bound. Then it reserves, and more
 * overtakes would change nothing.
 */
import type { Door, Entry } from "./door.ts";
import type { Mark, Watch } from "./waiter.ts";

export interface Bypass {
  readonly passes: number;
  readonly ms: number;
}

export const BYPASS: Bypass = { passes: 100, ms: 60_000 };

/** The overtakes of one walk. */
export class Overtakes {
  readonly #bound: Bypass;
  readonly #now: number;
  readonly #begun = new Map<string, Mark>();
  readonly #watches: Watch[] = [];

  constructor(bound: Bypass, now: number) {
    this.#bound = bound;
    this.#now = now;
  }

  begin(lane: string, unit: string): Mark {
    const mark = { unit, passed: 0, since: this.#now };
    this.#begun.set(lane, mark);
    return mark;
  }

  isOver(mark: Mark): boolean {
    return mark.passed >= this.#bound.passes || this.#now - mark.since >= this.#bound.ms;
  }

  /** Taking from any of its pools counts: a pool that has room for it now may lack room in the next pass. */
  watch(lane: string, mark: Mark, pools: readonly Entry[]): void {
    const watch: Watch = { lane, mark, overtakes: 0, last: undefined };
    this.#watches.push(watch);
    for (const { door } of pools) door.watching.push(watch);
  }

  count(unit: string, door: Door): void {
    for (const watch of door.watching) {
      if (watch.last !== unit) watch.overtakes += 1;
      watch.last = unit;
    }
  }

  /** The marks that changed, by lane. */
  marks(): Map<string, Mark> {
    const marks = new Map(this.#begun);
    for (const { lane, mark, overtakes } of this.#watches) {
      if (overtakes > 0) marks.set(lane, { ...mark, passed: mark.passed + overtakes });
    }
    return marks;
  }
}
