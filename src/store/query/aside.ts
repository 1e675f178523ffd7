/**
 * Lanes set aside: a pass could not process them, and no pass looks at them until an operator restores them.
 * Their units keep their places. Units enqueued for them in the meantime wait with them.
 */
import type { Flow } from "../flow.ts";
import { commit, send } from "../flow.ts";
import type { LaneSpec } from "../lane.ts";
import type { Row } from "../row.ts";
import { idOf, int, only, text } from "../row.ts";
import type { Sql } from "../sql.ts";
import { by, forUpdate, forUpdateSkipLocked, now, oneOf, raw, rows, sql } from "../sql.ts";
import type { AsideRow } from "../store.ts";
import { arrivalRow, bestPerLane, deleteArrivals, insertArrivals, takeIn } from "./arrival.ts";
import { insertEvents, selectLastEvent } from "./event.ts";
import { tellOthers } from "./tell-others.ts";

/** The number of the state "aside". */
const ASIDE = sql`3`;

const SPEC = { lane: "text", queue: "text", task: "text", asks: "text", error: "text" } as const;

/**
 * Makes sure that the lane has a row, so that its units are counted and found, and no pass creates it again.
 */
export function* setAside({ id, queue, task, asks }: LaneSpec, error: string): Flow<void> {
  const known = yield* send(sql`SELECT id FROM sluice_lane WHERE id = ${id}${forUpdate}`.as(idOf));
  const list = rows("a", SPEC, [{ lane: id, queue, task, asks, error }]);
  yield* commit([
    sql`DELETE FROM sluice_arrival WHERE seq > 0 AND lane = ${id}`,
    known.length > 0
      ? sql`UPDATE sluice_lane SET state = ${ASIDE}, parked = NULL, stamp = stamp + 1 WHERE id = ${id}`
      : sql`INSERT INTO sluice_lane (id, queue, task, asks, state, head_precedence, head_at, head_id, blocked)
          SELECT a.lane, a.queue, a.task, a.asks, ${ASIDE}, 0, 0, '', '[]' FROM ${list}`,
    sql`INSERT INTO sluice_aside (lane, queue, task, asks, error, at) SELECT a.lane, a.queue, a.task, a.asks, a.error, ${now} FROM ${list} ${by(
      {
        postgres: "ON CONFLICT (lane) DO NOTHING",
        sqlite: "WHERE true ON CONFLICT (lane) DO NOTHING",
        mysql: "ON DUPLICATE KEY UPDATE sluice_aside.lane = sluice_aside.lane",
      },
    )}`,
    tellOthers([{ kind: "LaneSetAside", subject: id, queue, data: JSON.stringify({ error }) }]),
  ]);
}

const WAITING = sql`(SELECT count(*) FROM sluice_waiting w WHERE w.lane = a.lane)`;

const ROW = raw("a.lane, a.queue, a.task, a.asks, a.error, a.at");

const laneSpec = (row: Row): LaneSpec => ({
  id: text(row.lane),
  queue: text(row.queue),
  task: text(row.task),
  asks: text(row.asks),
});

const asideRow = (row: Row): AsideRow => ({
  ...laneSpec(row),
  error: text(row.error),
  at: int(row.at),
  units: int(row.units),
});

export const selectAside = (): Sql<AsideRow> =>
  sql`SELECT ${ROW}, ${WAITING} AS units FROM sluice_aside a ORDER BY a.at, a.lane LIMIT 200`.as(asideRow);

export const selectAsideAmong = (lanes: readonly string[]): Sql<AsideRow> =>
  sql`SELECT ${ROW}, 0 AS units FROM sluice_aside a WHERE a.lane ${oneOf(lanes)}`.as(asideRow);

export const asides = (): Flow<AsideRow[]> => send(selectAside());

/** `given` is the lane or one of its units. The lane arrives again, and the next pass looks at it as usual. */
export function* restore(given: string, who: string): Flow<AsideRow | undefined> {
  const [aside] = yield* send(
    sql`SELECT ${ROW}, ${WAITING} AS units FROM sluice_aside a
      WHERE a.lane = ${given} OR a.lane = (SELECT t.lane FROM sluice_task t WHERE t.id = ${given})${forUpdate}`.as(
      asideRow,
    ),
  );
  if (!aside) return undefined;
  const n = only(yield* send(selectLastEvent(aside.id))) + 1;
  const data = JSON.stringify({ by: who });
  yield* commit([
    comeBack(aside.id),
    sql`UPDATE sluice_lane SET n = ${n} WHERE id = ${aside.id}`,
    insertEvents([{ subject: aside.id, n, kind: "LaneRestored", data }]),
    tellOthers([{ kind: "LaneRestored", subject: aside.id, n, queue: aside.queue, data }]),
  ]);
  return aside;
}

/** The first arrival opens an idle lane. */
const comeBack = (lane: string): Sql[] => [
  sql`DELETE FROM sluice_aside WHERE lane = ${lane}`,
  sql`UPDATE sluice_lane SET state = 0, parked = NULL, stamp = stamp + 1 WHERE id = ${lane} AND state = ${ASIDE}`,
  insertArrivals(
    sql`(SELECT id, lane, precedence, at FROM sluice_waiting WHERE lane = ${lane} ORDER BY precedence, at, id LIMIT 1) AS w JOIN sluice_task t ON t.id = w.id`,
  ),
];

/** When the last unit of such a lane is gone, the lane is no longer set aside. */
export const forgetEmptied = (unit: string): Sql[] => {
  const lane = sql`(SELECT t.lane FROM sluice_task t WHERE t.id = ${unit})`;
  const isEmpty = sql`NOT EXISTS (SELECT 1 FROM sluice_waiting w WHERE w.lane = ${lane}) AND NOT EXISTS (SELECT 1 FROM sluice_later d WHERE d.lane = ${lane})`;
  return [
    sql`UPDATE sluice_lane SET state = 0, parked = NULL, stamp = stamp + 1 WHERE id = ${lane} AND state = ${ASIDE} AND ${isEmpty}`,
    sql`DELETE FROM sluice_aside WHERE lane = ${lane} AND ${isEmpty}`,
  ];
};

/** Lanes with units to take in. */
export const arrivedLanes = (): Flow<LaneSpec[]> =>
  send(
    sql`SELECT DISTINCT r.lane, r.queue, r.task, r.asks FROM (SELECT lane, queue, task, asks FROM sluice_arrival ORDER BY seq LIMIT 2000) AS r
      WHERE NOT EXISTS (SELECT 1 FROM sluice_aside a WHERE a.lane = r.lane)`.as(laneSpec),
  );

/** Takes in the arrivals of these lanes only. */
export function* takeInOnly(lanes: readonly string[]): Flow<void> {
  const arrived = yield* send(
    sql`SELECT seq, lane, queue, task, asks, precedence, at, unit FROM sluice_arrival WHERE lane ${oneOf(lanes)} ORDER BY seq LIMIT 2000${forUpdateSkipLocked}`.as(
      arrivalRow,
    ),
  );
  if (arrived.length === 0) return;
  yield* commit([deleteArrivals(arrived.map(({ seq }) => seq)), takeIn(bestPerLane(arrived))]);
}
