/**
 * What a pass reads, always in statements later than the one that took the locks: a statement that waited for a
 * lock still sees the rows as they were before (READ COMMITTED takes its snapshot when a statement begins).
 */

import type { Sql } from "../sql.ts";
import {
  by,
  each,
  forNoKeyUpdate,
  forShare,
  forUpdateSkipLocked,
  leaseNow,
  noneOf,
  now,
  oneOf,
  raw,
  sql,
} from "../sql.ts";
import type { Scope } from "../store.ts";

export const selectNow = (): Sql => sql`SELECT ${now} AS now`;

export interface GateLocks {
  readonly mode: "exclusive" | "shared";
  readonly keys: readonly string[];
}

/**
 * All gates of a pass in one order of names, whichever way each of them is locked: what one pass shares another may
 * want alone, because limits change, and two passes must never hold what the other wants next.
 */
export function inLockOrder({ exclusive, shared }: Pick<Scope, "exclusive" | "shared">): GateLocks[] {
  const alone = new Set(exclusive);
  const runs: { mode: GateLocks["mode"]; keys: string[] }[] = [];
  for (const key of [...new Set([...exclusive, ...shared])].sort()) {
    const mode = alone.has(key) ? "exclusive" : "shared";
    const last = runs.at(-1);
    if (last?.mode === mode) last.keys.push(key);
    else runs.push({ mode, keys: [key] });
  }
  return runs;
}

/** Neighbours in that order. */
export const lockGates = (keys: readonly string[], mode: "exclusive" | "shared"): Sql =>
  sql`SELECT name, capacity, paused, line, lease_ms FROM sluice_gate WHERE name ${oneOf(keys)} ORDER BY name${mode === "exclusive" ? forNoKeyUpdate : forShare}`;

/** A claim counts nowhere once its session has ended or its claim lease ran out before it was started. */
export const LOST = sql`(s.id IS NULL OR s.expires_at <= ${leaseNow} OR (r.until_at IS NOT NULL AND r.until_at <= ${leaseNow}))`;

/** The one query of usage: everything else is arithmetic on its rows. */
export const selectUsage = (): Sql =>
  sql`SELECT u.lane, u.session, u.held, u.lost, u.units, l.asks FROM (
      SELECT r.lane, r.session, r.held, CASE WHEN ${LOST} THEN 1 ELSE 0 END AS lost, count(*) AS units
      FROM sluice_running r LEFT JOIN sluice_session s ON s.id = r.session
      GROUP BY 1, 2, 3, 4) AS u JOIN sluice_lane l ON l.id = u.lane`;

const LANE = raw(
  "l.id, l.queue, l.task, l.asks, l.state, l.parked, l.head_precedence, l.head_at, l.head_id, l.stamp, l.mark_unit, l.mark_passed, l.mark_since, l.blocked, COALESCE(q.queue_rank, 100) AS queue_rank",
);
const LANE_FROM = raw("sluice_lane l LEFT JOIN sluice_queue q ON q.name = l.queue");
const BY_HEAD = raw("l.head_precedence, l.head_at, l.head_id");

export const selectLanes = (ids: readonly string[]): Sql =>
  sql`SELECT ${LANE} FROM ${LANE_FROM} WHERE l.id ${oneOf(ids)}`;

/** The best lanes parked on each of these gates. */
export const selectParked = (gates: readonly string[]): Sql =>
  each(
    { gate: "text" },
    gates.map((gate) => ({ gate })),
    (of) => sql`SELECT ${LANE} FROM ${LANE_FROM} WHERE l.parked = ${of("gate")} ORDER BY ${BY_HEAD} LIMIT 16`,
  );

/** Open lanes that the scope does not name, the best of each queue first. */
export const selectBeyond = (scope: Pick<Scope, "queues" | "lanes" | "aside" | "lookahead">): Sql =>
  each(
    { queue: "text" },
    scope.queues.map((queue) => ({ queue })),
    (of) =>
      sql`SELECT ${LANE} FROM ${LANE_FROM} WHERE l.queue = ${of("queue")} AND l.state = 1
      AND l.id ${noneOf([...scope.lanes.map((lane) => lane.id), ...scope.aside])} ORDER BY ${BY_HEAD} LIMIT ${raw(String(scope.lookahead))}`,
  );

/**
 * Rows that were claimed long ago may still lie, dead, at the front of PostgreSQL's index: begin at the lane's head.
 * Where somebody has just arrived, possibly before that head, begin at the front.
 */
const fromHead = (arriving: boolean): Sql => {
  const beyond = raw("(w.precedence, w.at, w.id) >= (l.head_precedence, l.head_at, l.head_id)");
  const reached = arriving ? sql`(${beyond} OR l.id IN (SELECT a.lane FROM sluice_arrival a))` : beyond;
  const plain = raw("sluice_waiting w WHERE w.lane = ");
  return by({
    postgres: sql`sluice_lane l JOIN sluice_waiting w ON w.lane = l.id AND ${reached} WHERE l.id = `,
    sqlite: plain,
    mysql: plain,
  });
};

export interface Looking {
  readonly skipLocked: boolean;
  /** There may be units that their lane does not know of yet. */
  readonly arriving: boolean;
}

export const selectHeads = (lanes: Scope["lanes"], { skipLocked, arriving }: Looking): Sql =>
  each(
    { lane: "text", want: "int" },
    lanes.map(({ id, want }) => ({ lane: id, want })),
    (of) =>
      sql`SELECT w.id, w.lane, w.precedence, w.at, w.good_until FROM ${fromHead(arriving)}${of("lane")}
      ORDER BY w.precedence, w.at, w.id LIMIT ${of("want")}${skipLocked ? lockingUnits : raw("")}`,
  );

const lockingUnits = by({ postgres: " FOR UPDATE OF w SKIP LOCKED", mysql: forUpdateSkipLocked, sqlite: "" });

/** The first of each lane among the claims of a session that have not started and still may. */
export const selectPrefetched = (session: string, perLane: number): Sql =>
  sql`SELECT p.epoch, p.id, p.lane, p.precedence, p.at, p.good_until FROM (
      SELECT epoch, id, lane, precedence, at, good_until,
        row_number() OVER (PARTITION BY lane ORDER BY precedence, at, id) AS place FROM sluice_running
      WHERE session = ${session} AND held = 0 AND until_at > ${leaseNow} AND (good_until IS NULL OR good_until > ${now})) AS p
    WHERE p.place <= ${perLane} ORDER BY p.precedence, p.at, p.id`;

export const selectSessions = (): Sql =>
  sql`SELECT id, name, slots, serves, expires_at FROM sluice_session WHERE expires_at > ${leaseNow}`;

/** The store's time, and who is alive by it, in one answer that is never empty. */
export const selectClockAndSessions = (): Sql =>
  sql`SELECT c.now, s.id, s.slots, s.serves FROM (SELECT ${now} AS now) AS c LEFT JOIN sluice_session s ON s.expires_at > ${leaseNow}`;

export const selectLost = (): Sql =>
  sql`SELECT r.epoch, r.id, r.started_at, t.options
    FROM sluice_running r JOIN sluice_task t ON t.id = r.id LEFT JOIN sluice_session s ON s.id = r.session
    WHERE ${LOST} ORDER BY r.id LIMIT 200`;
