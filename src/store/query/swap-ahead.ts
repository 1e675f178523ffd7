/**
 * A swap of a worker with claims ahead of their slots: the next of these claims take the slots of those that have
 * finished. Nothing is taken out of the line.
 */
import { idOf } from "../row.ts";
import type { Sql } from "../sql.ts";
import { forUpdate, leaseNow, now, oneOf, raw, sql } from "../sql.ts";
import type { Epoch, Swap } from "../store.ts";
import { among, began } from "./claim.ts";
import { SETTLED } from "./settle.ts";
import { isUnchanged, OPEN } from "./swap-checks.ts";

/** All lanes of a swap, each once. */
export const lanesOf = ({ lanes, ahead }: Swap): string[] => [
  ...new Set([...lanes.map(({ id }) => id), ...ahead.map(({ lane }) => lane)]),
];

export const selectOpen = (lanes: readonly string[]): Sql<string> =>
  sql`SELECT l.id FROM sluice_lane l WHERE l.id ${oneOf(lanes)} AND l.state = ${OPEN}`.as(idOf);

/** Those of these claims that may still start. */
const mayStart = (claims: readonly Epoch[]): Sql =>
  sql`${among(claims)} AND held = 0 AND until_at > ${leaseNow} AND (good_until IS NULL OR good_until > ${now})`;

/** On PostgreSQL: everything in one statement, after the gates were locked. */
export function startAhead(given: Swap): Sql<string> {
  const { ahead, finished } = given;
  const lanes = lanesOf(given);
  const open = sql`(SELECT count(*) FROM sluice_lane l WHERE l.id ${oneOf(lanes)} AND l.state = ${OPEN})`;
  return sql`WITH s AS (UPDATE sluice_running SET held = 1, ${began}, n = n + 1 WHERE ${mayStart(ahead)}
      AND (SELECT ${SETTLED} = ${String(finished.length)} AND ${open} = ${raw(String(lanes.length))} AND ${isUnchanged(given)}) RETURNING id, n),
    e AS (INSERT INTO sluice_event (subject, n, kind, at, data) SELECT s.id, s.n, 'TaskStarted', ${now}, NULL FROM s)
    SELECT id FROM s`.as(idOf);
}

export const selectReady = (claims: readonly Epoch[]): Sql<string> =>
  sql`SELECT id FROM sluice_running WHERE ${mayStart(claims)} ORDER BY id${forUpdate}`.as(idOf);

export function readyOf({ ahead }: Swap, ready: readonly string[], open: ReadonlySet<string>): Epoch[] {
  const ids = new Set(ready);
  return ahead.filter(({ id, lane }) => ids.has(id) && open.has(lane));
}
