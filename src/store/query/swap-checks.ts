/**
 * What must still be so when a swap starts units. The gates are locked first. Everything else is read in a later
 * statement, because a statement that waited for a lock still sees the rows from before the wait.
 */
import { int } from "../row.ts";
import type { Sql } from "../sql.ts";
import { forShare, leaseNow, now, oneOf, raw, rows, sql, throughKey } from "../sql.ts";
import type { Swap } from "../store.ts";
import { laneStateNumber } from "./lane-row.ts";

export const OPEN = raw(String(laneStateNumber("open")));

/** Returns the store's time, once per gate. */
export const shareGates = ({ gates }: Swap): Sql<number> =>
  sql`SELECT ${now} AS now FROM sluice_gate WHERE name ${oneOf(gates.map(({ key }) => key))} ORDER BY name${forShare}`.as(
    (row) => int(row.now),
  );

const RULE = { name: "text", capacity: "int", paused: "int", line: "text", lease: "int" } as const;
/** Stands for NULL. */
const NONE = -9;

/** True if the session is alive and the gates are as they were seen. The gates are locked by now. */
export function isUnchanged({ session, sessions, gates, parkedOn }: Swap): Sql {
  const none = raw(String(NONE));
  const count = raw(String(gates.length));
  const seen = gates.map(({ key, limit, paused, line, leaseMs }) => {
    return { name: key, capacity: limit ?? NONE, paused: paused ? 1 : 0, line, lease: leaseMs ?? NONE };
  });
  // One for its own session, nothing for those that were seen, too much for a new one.
  const alive = sql`SELECT COALESCE(sum(CASE WHEN s.id = ${session} THEN 1 WHEN s.id ${oneOf(sessions)} THEN 0 ELSE 2 END), 0)
    FROM sluice_session s WHERE ${throughKey("s.id")} AND s.expires_at > ${leaseNow}`;
  return sql`(${alive}) = 1
    AND (SELECT l.id FROM sluice_lane l WHERE l.parked ${oneOf(parkedOn)} LIMIT 1) IS NULL
    AND (SELECT count(*) FROM ${rows("g", RULE, seen)} WHERE (SELECT k.name FROM sluice_gate k WHERE k.name = g.name AND k.paused = g.paused
      AND COALESCE(k.capacity, ${none}) = g.capacity AND k.line = g.line AND COALESCE(k.lease_ms, ${none}) = g.lease) IS NOT NULL) = ${count}`;
}
