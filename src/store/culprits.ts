/**
 * Finds the members of a list that cannot be processed by trying smaller and smaller parts. One in hundreds
 * takes a few tries.
 */
import type { DataError } from "./data-error.ts";
import { isDataError } from "./data-error.ts";

export interface Culprit<T> {
  readonly one: T;
  readonly error: DataError;
}

/**
 * `attempt` must fail with a data error for exactly those parts that contain a culprit. Any other error ends
 * the search.
 */
export async function culprits<T>(
  all: readonly T[],
  attempt: (part: readonly T[]) => Promise<unknown>,
): Promise<Culprit<T>[]> {
  if (all.length === 0) return [];
  try {
    await attempt(all);
    return [];
  } catch (error) {
    if (!isDataError(error)) throw error;
    if (all.length === 1) return all.map((one) => ({ one, error }));
  }
  const half = Math.ceil(all.length / 2);
  return [...(await culprits(all.slice(0, half), attempt)), ...(await culprits(all.slice(half), attempt))];
}
