/** The row of a lane: its columns and states, written once, and its decoder. */
import type { Row } from "../row.ts";
import { int, text, textOrNull } from "../row.ts";
import type { Sql } from "../sql.ts";
import { raw } from "../sql.ts";
import type { LaneRow, LaneState } from "../store.ts";

/** A state is stored as its index in this list. */
const STATES: readonly LaneState[] = ["idle", "open", "parked", "aside"];

export const laneStateNumber = (state: LaneState): number => STATES.indexOf(state);

export const LANE_COLUMNS = [
  "id",
  "queue",
  "task",
  "asks",
  "state",
  "parked",
  "head_precedence",
  "head_at",
  "head_id",
  "stamp",
  "mark_unit",
  "mark_passed",
  "mark_since",
  "blocked",
] as const;

/** The columns of a lane with this alias, and the rank of its queue `q`. */
export const laneColumns = (alias: string): Sql =>
  raw(
    `${LANE_COLUMNS.map((column) => `${alias}.${column}`).join(", ")}, COALESCE(q.queue_rank, 100) AS queue_rank`,
  );

export const laneRow = (row: Row): LaneRow => ({
  id: text(row.id),
  queue: text(row.queue),
  task: text(row.task),
  asks: text(row.asks),
  rank: int(row.queue_rank),
  // No pass looks for a lane with an unknown state, so the lane is effectively set aside.
  state: STATES[int(row.state)] ?? "aside",
  parked: textOrNull(row.parked),
  head: { priority: 0 - int(row.head_precedence), at: int(row.head_at), id: text(row.head_id) },
  stamp: int(row.stamp),
  mark:
    row.mark_unit === null
      ? null
      : { unit: text(row.mark_unit), passed: int(row.mark_passed), since: int(row.mark_since) },
  blocked: text(row.blocked),
});
