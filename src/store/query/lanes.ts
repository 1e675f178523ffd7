/**
 * Moves lanes. A move is dropped if the lane has changed since it was read. Units are not touched.
 *
 * A head never passes a unit that is still in line, because nobody would look for the unit again. A pass decides
 * on the new head before it knows which units it gets. On PostgreSQL, it leaves units that another transaction
 * has locked, and that transaction may be rolled back. So the heads are set when the claims have been made.
 */

import type { Sql } from "../sql.ts";
import { by, forUpdate, now, oneOf, raw, rows, sql } from "../sql.ts";
import type { LaneMove } from "../store.ts";
import { laneStateNumber } from "./lane-row.ts";

const COLUMNS = {
  lane: "text",
  seen: "int",
  to_state: "int",
  to_parked: "text",
  to_slots: "int",
  to_unit: "text",
  to_passed: "int",
  to_since: "int",
  to_blocked: "text",
  to_precedence: "int",
  to_at: "int",
  to_head: "text",
} as const;

/**
 * Locks all lanes in one order before they are moved and opened, so that two passes never block each other.
 */
export const lockLanes = (ids: readonly string[]): Sql =>
  sql`SELECT id FROM sluice_lane WHERE id ${oneOf(ids)} ORDER BY id${forUpdate}`;

/** `leaving` are the units that the pass took out of line, as far as it got them. */
export function moveLanes(moves: readonly LaneMove[], leaving: readonly string[] = []): Sql[] {
  const sorted = [...moves].sort((a, b) => (a.lane < b.lane ? -1 : 1));
  const list = rows("m", COLUMNS, sorted.map(recordOf));
  const unlessChanged = sql`WHERE l.id = m.lane AND l.stamp = m.seen`;
  return [
    by({
      postgres:
        leaving.length > 0
          ? sql`WITH s AS (${firstLeft(leaving)}) UPDATE sluice_lane AS l SET ${assign(NOT_PAST_LEFT)} FROM ${list} LEFT JOIN s ON s.lane = m.lane ${unlessChanged}`
          : sql`UPDATE sluice_lane AS l SET ${ASSIGN} FROM ${list} ${unlessChanged}`,
      sqlite: sql`UPDATE sluice_lane AS l SET ${ASSIGN} FROM ${list} ${unlessChanged}`,
      mysql: sql`UPDATE sluice_lane l JOIN ${list} ON l.id = m.lane AND l.stamp = m.seen SET ${ASSIGN}`,
    }),
    recordWaits(sorted),
  ];
}

/** By lane, the first of these units that is still in line. */
const firstLeft = (units: readonly string[]): Sql =>
  sql`SELECT DISTINCT ON (w.lane) w.lane, w.precedence, w.at, w.id FROM sluice_waiting w WHERE w.id ${oneOf(units)} ORDER BY w.lane, w.precedence, w.at, w.id`;

interface Assigned {
  readonly state: string;
  head(column: "precedence" | "at" | "id", decided: string): string;
}

const AS_DECIDED: Assigned = { state: "m.to_state", head: (_, decided) => decided };

const IS_PAST = "s.id IS NOT NULL AND (s.precedence, s.at, s.id) < (m.to_precedence, m.to_at, m.to_head)";

/** A lane with a unit left does not become idle, and its head stays in front of that unit. */
const NOT_PAST_LEFT: Assigned = {
  state: `CASE WHEN m.to_state = ${laneStateNumber("idle")} AND s.id IS NOT NULL THEN ${laneStateNumber("open")} ELSE m.to_state END`,
  head: (column, decided) => `CASE WHEN ${IS_PAST} THEN s.${column} ELSE ${decided} END`,
};

/** n grows only if the gates that the lane waits for have changed. Each such change is one event. */
const assign = ({ state, head }: Assigned): Sql =>
  raw(`n = l.n + CASE WHEN l.blocked = m.to_blocked THEN 0 ELSE 1 END,
  state = ${state}, parked = m.to_parked, parked_slots = m.to_slots, mark_unit = m.to_unit, mark_passed = m.to_passed, mark_since = m.to_since, blocked = m.to_blocked,
  head_precedence = COALESCE(${head("precedence", "m.to_precedence")}, l.head_precedence), head_at = COALESCE(${head("at", "m.to_at")}, l.head_at), head_id = COALESCE(${head("id", "m.to_head")}, l.head_id), stamp = l.stamp + 1`);

const ASSIGN = assign(AS_DECIDED);

/** Records which gates a lane waits for, and since when. A unit's own history is the part within its wait. */
function recordWaits(moves: readonly LaneMove[]): Sql {
  const list = rows(
    "m",
    { lane: "text", seen: "int" },
    moves.map(({ lane, stamp }) => ({ lane, seen: stamp + 1 })),
  );
  return sql`INSERT INTO sluice_event (subject, n, kind, at, data)
    SELECT l.id, l.n, 'LaneWaiting', ${now}, l.blocked FROM ${list} JOIN sluice_lane l ON l.id = m.lane AND l.stamp = m.seen WHERE l.n > 0 ${by(
      {
        postgres: "ON CONFLICT DO NOTHING",
        sqlite: "ON CONFLICT DO NOTHING",
        mysql: "ON DUPLICATE KEY UPDATE kind = kind",
      },
    )}`;
}

const recordOf = ({ lane, stamp, state, parked, slots = 1, mark, blocked, head }: LaneMove) => ({
  lane,
  seen: stamp,
  to_state: laneStateNumber(state),
  to_parked: parked,
  to_slots: slots,
  to_unit: mark?.unit ?? null,
  to_passed: mark?.passed ?? 0,
  to_since: mark?.since ?? 0,
  to_blocked: blocked,
  to_precedence: head ? 0 - head.priority : null,
  to_at: head?.at ?? null,
  to_head: head?.id ?? null,
});
