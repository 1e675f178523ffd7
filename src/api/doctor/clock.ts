/**
 * Compares the clock of this machine with the store's. Leases depend only on the store's clock, but run-at
 * times and deadlines may come from this machine.
 */
import { sayDuration } from "../../core/time.ts";
import type { Store } from "../../store/store.ts";
import type { Check } from "./check.ts";
import { checkOf, warning } from "./check.ts";

const TOLERATED_MS = 2_000;

export async function clockCheck(store: Store, wall: () => number): Promise<Check> {
  // The first call may include the time to connect.
  await store.now();
  const before = wall();
  const theirs = await store.now();
  const after = wall();
  return judgeClock({ before, theirs, after });
}

/** The store read its clock between `before` and `after`. A difference within this span is not counted. */
export function judgeClock({ before, theirs, after }: Record<"before" | "theirs" | "after", number>): Check {
  const apart = theirs > after ? theirs - after : theirs < before ? theirs - before : 0;
  if (Math.abs(apart) < TOLERATED_MS) return checkOf("clock", [], "this machine and the store agree");
  const which = apart > 0 ? "behind" : "ahead of";
  const finding = warning(
    `the clock of this machine is ${sayDuration(Math.abs(apart))} ${which} the store's, so a run-at or deadline given here means a different time there`,
    "Synchronize the clocks (NTP). Leases are safe: only the store's clock counts for them",
  );
  return checkOf("clock", [finding], "");
}
