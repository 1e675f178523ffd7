/** The store was taken away and given back. No process may end, and none may spin while it is gone. */
import type { Finding } from "../history.ts";

export interface Outage {
  readonly lastedMs: number;
  readonly ended: readonly string[];
  /** The share of one processor that each process used meanwhile. */
  readonly busy: readonly number[];
}

/** A waiting worker may look now and then, but may not keep a processor busy. */
const MOST_BUSY = 0.25;

export function checkOutage({ lastedMs, ended, busy }: Outage): Finding {
  const violations = ended.map((who) => `${who} ended while the store was away`);
  const most = Math.max(0, ...busy);
  if (most > MOST_BUSY)
    violations.push(`a worker used ${Math.round(most * 100)}% of a processor while the store was away`);
  return {
    check: "store away",
    figures: `${Math.round(lastedMs / 1_000)}s, ${busy.length} processes stayed, at most ${(most * 100).toFixed(1)}% of a processor each`,
    violations,
  };
}
