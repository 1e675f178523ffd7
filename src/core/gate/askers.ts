/** The units of a line that ask for each gate, by their places. Built once for a line. */
import type { Waiter } from "./waiter.ts";

/** The units that ask for one gate, in the order of the line. */
interface AskersOf {
  readonly places: readonly number[];
  readonly slots: readonly number[];
  readonly most: number;
  readonly least: number;
}

const NOBODY: AskersOf = { places: [], slots: [], most: 0, least: 0 };

export class Askers {
  readonly #of = new Map<string, { places: number[]; slots: number[]; most: number; least: number }>();
  readonly #sums = new Map<string, readonly number[]>();

  /** `line` must be in order. */
  constructor(line: readonly Waiter[]) {
    line.forEach(({ asks }, place) => {
      for (const { gate, slots } of asks) {
        const known = this.#of.get(gate) ?? { places: [], slots: [], most: slots, least: slots };
        this.#of.set(gate, known);
        known.places.push(place);
        known.slots.push(slots);
        known.most = Math.max(known.most, slots);
        known.least = Math.min(known.least, slots);
      }
    });
  }

  of(gate: string): AskersOf {
    return this.#of.get(gate) ?? NOBODY;
  }

  /** How many of them come before this place. */
  before(gate: string, place: number): number {
    return countBefore(this.of(gate).places, place);
  }

  /** The slots that those before this place ask for. */
  slotsBefore(gate: string, place: number): number {
    const sums = this.#sums.get(gate) ?? sumsOf(this.of(gate).slots);
    this.#sums.set(gate, sums);
    return sums[this.before(gate, place)] as number;
  }
}

/** The sum of the first n numbers, at n. */
export function sumsOf(numbers: readonly number[]): number[] {
  const sums = [0];
  for (const number of numbers) sums.push((sums.at(-1) as number) + number);
  return sums;
}

/** How many of these places, which are in order, are before this one. */
function countBefore(places: readonly number[], place: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle] as number) < place) low = middle + 1;
    else high = middle;
  }
  return low;
}
