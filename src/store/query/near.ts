/**
 * Finds the units ahead of a place, at any length of the line. The database chooses lanes and counts units,
 * and only the first units of each lane are read. Units that no pass has taken in yet are in line, too.
 */
import { isWholeLine } from "../../core/gate/kind.ts";
import { LANES_NEAR, wantEach } from "../near.ts";
import type { Row } from "../row.ts";
import { int, text } from "../row.ts";
import type { Sql } from "../sql.ts";
import { by, oneOf, raw, sql } from "../sql.ts";
import type { HeadRow, LaneRow, RivalRow } from "../store.ts";
import { LANE_COLUMNS, laneColumns, laneRow } from "./lane-row.ts";
import { selectFromFront, selectHeads } from "./look.ts";

/** A place in line, in terms of the columns. */
interface Spot {
  readonly rank: number;
  readonly precedence: number;
  readonly at: number;
  readonly id: string;
}

/** A lane that has only arrivals has the stamp -1. */
const LANES = raw(`(SELECT ${LANE_COLUMNS.join(", ")}
    FROM sluice_lane WHERE state <> 0 UNION ALL
  SELECT lane, MIN(queue), MIN(task), MIN(asks), 1, NULL, MIN(precedence), MIN(at), MIN(unit), -1, NULL, 0, 0, '[]' FROM sluice_arrival GROUP BY lane)`);
/** Each lane once, with just enough columns to tell its queue and asks. */
const EVERY = raw(
  "(SELECT id, queue, asks FROM sluice_lane UNION SELECT lane, queue, asks FROM sluice_arrival)",
);
/** The same, with the task. */
const EVERY_TASK = raw(
  "(SELECT id, queue, task, asks FROM sluice_lane UNION SELECT lane, queue, task, asks FROM sluice_arrival)",
);
const RANK = raw("COALESCE(q.queue_rank, 100)");
/** Lanes `e`, with the ranks of their queues `q`. */
const SELECT = sql`SELECT ${laneColumns("e")} FROM ${LANES} AS e LEFT JOIN sluice_queue q ON q.name = e.queue`;

const isBefore = (columns: readonly [Sql, Sql, Sql], { precedence, at, id }: Spot): Sql => {
  const [first, second, third] = columns;
  return sql`(${first} < ${precedence} OR (${first} = ${precedence} AND (${second} < ${at} OR (${second} = ${at} AND ${third} < ${id}))))`;
};
const HEAD = [raw("e.head_precedence"), raw("e.head_at"), raw("e.head_id")] as const;
const UNIT = [raw("w.precedence"), raw("w.at"), raw("w.id")] as const;
const behindRank = (columns: typeof HEAD | typeof UNIT, spot: Spot): Sql =>
  sql`(${RANK} < ${spot.rank} OR (${RANK} = ${spot.rank} AND ${isBefore(columns, spot)}))`;

/** Asks are stored as the JSON text of pairs, so a gate can appear in it in only one form. */
const asksFor = (gate: string): Sql => {
  const part = `[${JSON.stringify(gate)},`;
  return by({
    postgres: sql`strpos(e.asks, ${part}) > 0`,
    sqlite: sql`instr(e.asks, ${part}) > 0`,
    mysql: sql`INSTR(e.asks, ${part}) > 0`,
  });
};

const any = (gates: readonly string[]): Sql =>
  gates.map(asksFor).reduce((left, right) => sql`${left} OR ${right}`);

/** The best lanes that begin before this place and ask for one of these gates. */
const selectSharing = (gates: readonly string[], spot: Spot): Sql<LaneRow> =>
  sql`${SELECT}
    WHERE (${any(gates)}) AND ${behindRank(HEAD, spot)}
    ORDER BY queue_rank, e.head_precedence, e.head_at, e.head_id, e.id LIMIT ${raw(String(LANES_NEAR))}`.as(
    laneRow,
  );

/**
 * Special gates are asked for by few lanes. They get a query of their own, so that the many lanes that ask
 * for the common gates do not hide them.
 */
export function selectNear(gates: readonly string[], spot: Spot): Sql<LaneRow>[] {
  const special = gates.filter((gate) => !isWholeLine(gate));
  return [gates, special].filter((list) => list.length > 0).map((list) => selectSharing(list, spot));
}

/** Lanes with a waiting unit that ask for one of these gates, wherever in line. Special gates are asked apart. */
export function selectRivals(gates: readonly string[]): Sql<RivalRow>[] {
  const special = gates.filter((gate) => !isWholeLine(gate));
  return [gates, special].filter((list) => list.length > 0).map((list) => selectWaitingAt(list));
}

const selectWaitingAt = (gates: readonly string[]): Sql<RivalRow> =>
  sql`SELECT e.queue, e.task, e.asks FROM ${EVERY_TASK} AS e
    WHERE (${any(gates)}) AND EXISTS (SELECT 1 FROM sluice_waiting w WHERE w.lane = e.id)
    ORDER BY e.id LIMIT ${raw(String(LANES_NEAR))}`.as((row) => ({
    queue: text(row.queue),
    task: text(row.task),
    asks: text(row.asks),
  }));

export const selectOwn = (lane: string): Sql<LaneRow> => sql`${SELECT} WHERE e.id = ${lane}`.as(laneRow);

/** The best lanes of a queue. */
export const selectOfQueue = (queue: string): Sql<LaneRow> =>
  sql`${SELECT} WHERE e.queue = ${queue}
    ORDER BY e.head_precedence, e.head_at, e.head_id, e.id LIMIT ${raw(String(LANES_NEAR))}`.as(laneRow);

export const selectLanesNamed = (ids: readonly string[]): Sql<LaneRow> =>
  sql`${SELECT} WHERE e.id ${oneOf(ids)}`.as(laneRow);

/** Each lane once. The row that a pass has written takes precedence over the arrivals. */
export function lanesFrom(found: readonly LaneRow[]): LaneRow[] {
  const lanes = new Map<string, LaneRow>();
  for (const lane of found) {
    const known = lanes.get(lane.id);
    if (!known || known.stamp < lane.stamp) lanes.set(lane.id, lane);
  }
  return [...lanes.values()]
    .map((lane) => ({ ...lane, stamp: Math.max(0, lane.stamp) }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** A union in SQLite has at most 500 parts. */
const AT_ONCE = 400;

/** The first units of each of these lanes. */
export function selectFirst(lanes: readonly LaneRow[], known: ReadonlySet<string>): Sql<HeadRow>[] {
  const want = wantEach(lanes.length);
  const wanted = (list: readonly LaneRow[]) => list.map(({ id }) => ({ id, want }));
  const seen = lanes.filter(({ id }) => known.has(id));
  const fresh = lanes.filter(({ id }) => !known.has(id));
  return [
    ...chunks(seen).map((list) => selectHeads(wanted(list), { skipLocked: false, arriving: true })),
    ...chunks(fresh).map((list) => selectFromFront(wanted(list))),
  ];
}

function chunks<T>(list: readonly T[]): T[][] {
  const parts = Math.ceil(list.length / AT_ONCE);
  return Array.from({ length: parts }, (_, part) => list.slice(part * AT_ONCE, (part + 1) * AT_ONCE));
}

/** The lanes that a pass has taken in. */
export const knownIn = (found: readonly LaneRow[]): ReadonlySet<string> =>
  new Set(found.filter((lane) => !isAnnounced(lane)).map(({ id }) => id));

/** Whether no pass has taken the lane in yet, and its row is made of its arrivals. */
export const isAnnounced = ({ stamp }: LaneRow): boolean => stamp < 0;

/** How many units of a lane are ahead of a place. */
interface Ahead {
  readonly lane: string;
  readonly units: number;
}

const aheadRow = (row: Row): Ahead => ({ lane: text(row.lane), units: int(row.units) });

/** Units ahead of a place, in each of these lanes. */
export const countPerLane = (lanes: readonly LaneRow[], spot: Spot): Sql<Ahead> => {
  const better = lanes.filter(({ rank }) => rank < spot.rank).map(({ id }) => id);
  const equal = lanes.filter(({ rank }) => rank === spot.rank).map(({ id }) => id);
  return sql`SELECT w.lane, count(*) AS units FROM sluice_waiting w
    WHERE w.lane ${oneOf(better)} OR (w.lane ${oneOf(equal)} AND ${isBefore(UNIT, spot)}) GROUP BY w.lane`.as(
    aheadRow,
  );
};

/** Units ahead of a place: in its queue, and at each of these gates, one column per gate. Always one row. */
export const countAhead = (
  queue: string,
  gates: readonly string[],
  spot: Spot,
): Sql<{ readonly inQueue: number; readonly at: Readonly<Record<string, number>> }> => {
  const sum = (condition: Sql, name: string): Sql =>
    sql`COALESCE(SUM(CASE WHEN ${condition} THEN e.units ELSE 0 END), 0) AS ${raw(name)}`;
  const columns = [
    sum(sql`e.queue = ${queue}`, "in_queue"),
    ...gates.map((gate, n) => sum(asksFor(gate), `at_${n}`)),
  ];
  return sql`SELECT ${columns.reduce((left, right) => sql`${left}, ${right}`)} FROM (
      SELECT l.id, l.queue, l.asks, count(*) AS units FROM ${EVERY} AS l JOIN sluice_waiting w ON w.lane = l.id LEFT JOIN sluice_queue q ON q.name = l.queue
      WHERE ${behindRank(UNIT, spot)} GROUP BY l.id, l.queue, l.asks) AS e`.as((row) => ({
    inQueue: int(row.in_queue),
    at: Object.fromEntries(gates.map((gate, n) => [gate, int(row[`at_${n}`])])),
  }));
};

/** Units of a queue ahead of a place, lane by lane. */
export const countOfQueue = (queue: string, spot: Spot): Sql<Ahead & { readonly asks: string }> =>
  sql`SELECT l.id AS lane, l.asks, count(*) AS units FROM ${EVERY} AS l JOIN sluice_waiting w ON w.lane = l.id
    WHERE l.queue = ${queue} AND ${isBefore(UNIT, spot)} GROUP BY l.id, l.asks`.as((row) => ({
    ...aheadRow(row),
    asks: text(row.asks),
  }));
