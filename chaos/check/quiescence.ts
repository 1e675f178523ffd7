/** C8: once everything is healed, all work ends in time and nothing is left behind. */
import type { Finding, Tables } from "../history.ts";

export interface Healing {
  /** How long it took until nothing was in line or running. Undefined if that never happened. */
  readonly tookMs: number | undefined;
  readonly boundMs: number;
  /** A description of the work that was left when time was up. */
  readonly left: string;
  /** The number of transactions left open. */
  readonly openTransactions: number;
}

export function checkQuiescence(
  { tookMs, boundMs, left, openTransactions }: Healing,
  tables: Tables,
): Finding {
  const violations: string[] = [];
  if (tookMs === undefined) violations.push(`not everything ended within ${boundMs}ms of healing: ${left}`);
  for (const [place, rows] of [
    ["waiting", tables.waiting],
    ["later", tables.later],
    ["running", tables.running],
    ["stopping", tables.stopping],
    ["a session", tables.sessions],
  ] as const)
    if (rows.length > 0) violations.push(`${rows.length} left ${place}: ${rows.slice(0, 3).join(", ")}`);
  if (openTransactions > 0) violations.push(`${openTransactions} transactions were left open`);
  return {
    check: "C8 quiescence",
    figures: tookMs === undefined ? "never" : `all ended ${(tookMs / 1_000).toFixed(1)}s after healing`,
    violations,
  };
}
