/**
 * Arrivals. An enqueue only inserts, so the open transaction of a caller blocks no pass. It leaves one row
 * per lane here. The next pass takes the rows in and creates lanes, queues and gates.
 */
import { familyOf, unreadableKey } from "../../core/gate/key.ts";
import { undeclared } from "../../core/gate/kind.ts";
import { inByteOrder } from "../../core/text.ts";
import { asksOf } from "../lane.ts";
import type { Row } from "../row.ts";
import { flag, int, text } from "../row.ts";
import type { Sql } from "../sql.ts";
import { by, forUpdateSkipLocked, oneOf, raw, rows, sql } from "../sql.ts";

/**
 * Announces the lanes of these waiting units. Places are copied from the waiting rows and never read from the
 * clock again: a lane's head must not be later than its first unit.
 */
export const insertArrivalsOf = (ids: readonly string[]): Sql =>
  insertArrivals(sql`sluice_waiting w JOIN sluice_task t ON t.id = w.id WHERE w.id ${oneOf(ids)}`);

/** Like `insertArrivalsOf`, for waiting units `w` and their bodies `t` in a given FROM clause. */
export const insertArrivals = (from: Sql): Sql =>
  sql`INSERT INTO sluice_arrival (lane, queue, task, asks, precedence, at, unit)
    SELECT t.lane, t.queue, t.name, t.asks, w.precedence, w.at, w.id FROM ${from}`;

/** A lane with units to take in, and the place of one of them. The fields are named like the columns. */
export interface Announced {
  readonly lane: string;
  readonly queue: string;
  readonly task: string;
  readonly asks: string;
  readonly precedence: number;
  readonly at: number;
  readonly unit: string;
}

interface Arrival extends Announced {
  readonly seq: number;
}

export const arrivalRow = (row: Row): Arrival => ({
  seq: int(row.seq),
  lane: text(row.lane),
  queue: text(row.queue),
  task: text(row.task),
  asks: text(row.asks),
  precedence: int(row.precedence),
  at: int(row.at),
  unit: text(row.unit),
});

export interface Arrived {
  readonly arrival: Arrival;
  /** Its lane is set aside. */
  readonly aside: boolean;
}

export const selectArrivals = (): Sql<Arrived> =>
  sql`SELECT r.seq, r.lane, r.queue, r.task, r.asks, r.precedence, r.at, r.unit,
      CASE WHEN EXISTS (SELECT 1 FROM sluice_aside x WHERE x.lane = r.lane) THEN 1 ELSE 0 END AS aside
    FROM sluice_arrival r ORDER BY r.seq LIMIT 2000${forUpdateSkipLocked}`.as((row) => ({
    arrival: arrivalRow(row),
    aside: flag(row.aside),
  }));

export const deleteArrivals = (seqs: readonly number[]): Sql =>
  sql`DELETE FROM sluice_arrival WHERE seq ${oneOf(seqs)}`;

/** One row per lane, with the best place among its arrivals. */
export function bestPerLane(arrivals: readonly Announced[]): Announced[] {
  const best = new Map<string, Announced>();
  for (const row of arrivals) {
    const known = best.get(row.lane);
    if (!known || isBefore(row, known)) best.set(row.lane, row);
  }
  // The order keeps two passes from waiting for each other's lanes.
  return [...best.values()].sort((a, b) => (a.lane < b.lane ? -1 : 1));
}

function isBefore(a: Announced, b: Announced): boolean {
  if (a.precedence !== b.precedence) return a.precedence < b.precedence;
  return a.at !== b.at ? a.at < b.at : a.unit < b.unit;
}

/**
 * Gates and queues come first, then lanes, in the same order everywhere. Only missing rows are inserted: the
 * upsert of a known gate would lock it, and MySQL cannot upgrade a shared lock to that without a deadlock.
 */
export function takeIn(lanes: readonly Announced[]): Sql[] {
  const keys = new Set<string>();
  for (const lane of lanes) {
    for (const { gate } of asksOf(lane.asks)) {
      if (gate === unreadableKey) continue;
      keys.add(gate);
      const family = familyOf(gate);
      if (family) keys.add(family);
    }
  }
  return [
    insertGates([...keys].sort(inByteOrder)),
    insertQueues([...new Set(lanes.map((lane) => lane.queue))]),
    upsertLanes(lanes),
  ];
}

const ignoreKnown = (column: string): Sql =>
  by({
    postgres: "ON CONFLICT DO NOTHING",
    sqlite: "ON CONFLICT DO NOTHING",
    mysql: `ON DUPLICATE KEY UPDATE ${column} = ${column}`,
  });

/** SQLite reads `SELECT … FROM … ON` as a join. A true condition ends the select before ON CONFLICT. */
const endOfSelect = by({ postgres: "", sqlite: " WHERE true ", mysql: "" });

export function insertGates(keys: readonly string[]): Sql {
  const born = keys.map((name) => {
    // A gate of one value has no limit at first. Its family's limit applies until it gets its own.
    const { limit, line } = undeclared(name);
    return { name, capacity: limit, line };
  });
  const list = rows("g", { name: "text", capacity: "int", line: "text" }, born);
  return sql`INSERT INTO sluice_gate (name, capacity, declared, line) SELECT g.name, g.capacity, g.capacity, g.line FROM ${list} WHERE NOT EXISTS (SELECT 1 FROM sluice_gate k WHERE k.name = g.name) ${ignoreKnown("sluice_gate.name")}`;
}

export function insertQueues(names: readonly string[]): Sql {
  const list = rows(
    "q",
    { name: "text" },
    [...names].sort(inByteOrder).map((name) => ({ name })),
  );
  return sql`INSERT INTO sluice_queue (name, queue_rank) SELECT q.name, 100 FROM ${list} WHERE NOT EXISTS (SELECT 1 FROM sluice_queue k WHERE k.name = q.name) ${ignoreKnown("sluice_queue.name")}`;
}

/**
 * Opens an idle lane, and lowers a lane's head if the new unit comes before it. A parked lane stays parked.
 */
function upsertLanes(lanes: readonly Announced[]): Sql {
  const list = rows(
    "a",
    { lane: "text", queue: "text", task: "text", asks: "text", precedence: "int", at: "int", unit: "text" },
    lanes,
  );
  return sql`INSERT INTO sluice_lane (id, queue, task, asks, state, head_precedence, head_at, head_id, blocked)
    SELECT a.lane, a.queue, a.task, a.asks, 1, a.precedence, a.at, a.unit, '[]' FROM ${list}${endOfSelect} ${LOWER}`;
}

const lower = (fresh: (column: string) => string, old: string): string => {
  const isLower = `(${fresh("head_precedence")} < ${old}head_precedence OR (${fresh("head_precedence")} = ${old}head_precedence AND (${fresh("head_at")} < ${old}head_at OR (${fresh("head_at")} = ${old}head_at AND ${fresh("head_id")} < ${old}head_id))))`;
  const pick = (column: string): string =>
    `CASE WHEN ${old}state = 0 OR ${isLower} THEN ${fresh(column)} ELSE ${old}${column} END`;
  // An idle lane starts over with the asks of its first unit, because its row may have been damaged.
  const asks = `asks = CASE WHEN ${old}state = 0 THEN ${fresh("asks")} ELSE ${old}asks END`;
  return `${asks}, head_precedence = ${pick("head_precedence")}, head_at = ${pick("head_at")}, head_id = ${pick("head_id")}, state = CASE WHEN ${old}state = 0 THEN 1 ELSE ${old}state END, stamp = ${old}stamp + 1`;
};

const LOWER = by({
  postgres: raw(`ON CONFLICT (id) DO UPDATE SET ${lower((c) => `excluded.${c}`, "sluice_lane.")}`),
  sqlite: raw(`ON CONFLICT (id) DO UPDATE SET ${lower((c) => `excluded.${c}`, "sluice_lane.")}`),
  // MySQL assigns from left to right and sees its own assignments, so a column keeps the result of the
  // comparison first.
  mysql: raw(
    `ON DUPLICATE KEY UPDATE asks = IF(sluice_lane.state = 0, VALUES(asks), sluice_lane.asks), lowered = (sluice_lane.state = 0 OR VALUES(head_precedence) < sluice_lane.head_precedence OR (VALUES(head_precedence) = sluice_lane.head_precedence AND (VALUES(head_at) < sluice_lane.head_at OR (VALUES(head_at) = sluice_lane.head_at AND VALUES(head_id) < sluice_lane.head_id)))), ` +
      `head_precedence = IF(sluice_lane.lowered, VALUES(head_precedence), sluice_lane.head_precedence), head_at = IF(sluice_lane.lowered, VALUES(head_at), sluice_lane.head_at), head_id = IF(sluice_lane.lowered, VALUES(head_id), sluice_lane.head_id), ` +
      `state = IF(sluice_lane.state = 0, 1, sluice_lane.state), stamp = sluice_lane.stamp + 1`,
  ),
});
