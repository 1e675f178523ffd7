/**
 * Explanations are computed, and computing blocks the process. Between two rows of a list, everything else gets
 * its turn: timers, leases, other callers.
 */
import { turn } from "../env/timers.ts";

export async function eachInTurn<T, R>(list: readonly T[], make: (one: T, index: number) => R): Promise<R[]> {
  const made: R[] = [];
  for (const [index, one] of list.entries()) {
    if (index > 0) await turn();
    made.push(make(one, index));
  }
  return made;
}
