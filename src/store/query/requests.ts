/** Requests for locks: they are withdrawn, and swept when their process is dead or nobody wants the lock. */
import { undeclared } from "../../core/gate/kind.ts";
import { LOCKS } from "../../core/lock/request.ts";
import { inByteOrder } from "../../core/text.ts";
import type { Flow } from "../flow.ts";
import { commit, flight, send } from "../flow.ts";
import { asksOf } from "../lane.ts";
import type { Row } from "../row.ts";
import { flag, idOf, int, intOrNull, text, textOrNull } from "../row.ts";
import type { Sql } from "../sql.ts";
import { by, forUpdate, forUpdateSkipLocked, leaseNow, now, oneOf, raw, sql, throughKey } from "../sql.ts";
import { selectAsksOfArrivals, selectAsksOfLater } from "./delete-gate.ts";

const MOST_LANES = raw("200");
const MOST_UNITS = raw("500");

/** A unit that was claimed meanwhile has no row in line any more. */
export function* withdraw(ids: readonly string[]): Flow<string[]> {
  const found = yield* send(
    sql`SELECT w.id FROM sluice_waiting w JOIN sluice_task t ON t.id = w.id WHERE w.id ${oneOf(ids)} AND t.queue = ${LOCKS} ORDER BY w.id${forUpdate}`.as(
      idOf,
    ),
  );
  yield* commit(found.length > 0 && forget(found));
  return found;
}

const forget = (ids: readonly string[]): Sql[] => [
  sql`DELETE FROM sluice_waiting WHERE id ${oneOf(ids)}`,
  sql`DELETE FROM sluice_task WHERE id ${oneOf(ids)}`,
  sql`DELETE FROM sluice_event WHERE subject ${oneOf(ids)}`,
];

/** A lane of requests that may be swept. */
interface Candidate {
  readonly id: string;
  readonly gate: string;
  /** Its process has no live session. */
  readonly isDead: boolean;
}

/** Only the names of processes that hold locks are compared. They contain no wildcards. */
const IS_DEAD = sql`NOT EXISTS (SELECT 1 FROM sluice_session s WHERE s.expires_at > ${leaseNow} AND s.name LIKE '@locks/%' AND l.task LIKE ${by(
  { postgres: "s.name || '/%'", sqlite: "s.name || '/%'", mysql: "CONCAT(s.name, '/%')" },
)})`;

const IS_USED = sql`(EXISTS (SELECT 1 FROM sluice_waiting w WHERE w.lane = l.id) OR EXISTS (SELECT 1 FROM sluice_running r WHERE r.lane = l.id) OR EXISTS (SELECT 1 FROM sluice_stopping p WHERE p.lane = l.id))`;

/** What a sweep may take, and the gates that units of any kind ask for. */
interface Sweepable {
  readonly lanes: readonly Candidate[];
  readonly asked: ReadonlySet<string>;
}

/**
 * A lane of a dead process that still holds something is swept after a pass has recovered the claim. All of this is
 * read before the sweep locks anything. If a unit comes in between, its gate may be missing until the next pass.
 */
export function* sweepable(idleMs: number): Flow<Sweepable> {
  const lanes = yield* send(
    sql`SELECT x.id, x.asks, x.dead FROM (SELECT l.id, l.asks, CASE WHEN ${IS_DEAD} THEN 1 ELSE 0 END AS dead, CASE WHEN ${IS_USED} THEN 1 ELSE 0 END AS used, CASE WHEN EXISTS (SELECT 1 FROM sluice_waiting w WHERE w.lane = l.id) THEN 1 ELSE 0 END AS waits, l.head_at
      FROM sluice_lane l WHERE l.queue = ${LOCKS} AND l.state <> 3) AS x
      WHERE (x.dead = 1 AND (x.waits = 1 OR x.used = 0)) OR (x.used = 0 AND x.head_at <= ${now} - ${idleMs}) LIMIT ${MOST_LANES}`.as(
      candidateRow,
    ),
  );
  if (lanes.length === 0) return { lanes, asked: new Set() };
  // The asks of the units that this sweep takes out of line do not count.
  const leaving = new Set(lanes.map(({ id }) => id));
  const { asks, used } = yield* flight({
    asks: [selectAsksOfArrivals, selectAsksOfLater],
    used: sql`SELECT l.id, l.asks FROM sluice_lane l WHERE l.parked IS NOT NULL OR ${IS_USED}`.as((row) => ({
      id: text(row.id),
      asks: text(row.asks),
    })),
  });
  const staying = used.flatMap((lane) => (leaving.has(lane.id) ? [] : [lane.asks]));
  const asked = [...asks, ...staying].flatMap((one) => asksOf(one).map(({ gate }) => gate));
  return { lanes, asked: new Set(asked) };
}

const candidateRow = (row: Row): Candidate => ({
  id: text(row.id),
  gate: asksOf(text(row.asks))[0]?.gate ?? "",
  isDead: flag(row.dead),
});

/**
 * The gates are locked first, as in a pass. So no pass claims a unit of these lanes meanwhile, and a lane that
 * nothing refers to can go. A later request creates lane and gate again.
 */
export function* sweep({ lanes: found, asked }: Sweepable): Flow<number> {
  const lanes = found.map(({ id }) => id).sort(inByteOrder);
  const dead = found.flatMap(({ id, isDead }) => (isDead ? [id] : []));
  const { gates, units } = yield* flight({
    gates: lockGates([...new Set(found.map(({ gate }) => gate))].sort(inByteOrder)),
    units:
      dead.length > 0 &&
      sql`SELECT id FROM sluice_waiting WHERE lane ${oneOf(dead)} LIMIT ${MOST_UNITS}${forUpdateSkipLocked}`.as(
        idOf,
      ),
    locked: sql`SELECT id FROM sluice_lane WHERE id ${oneOf(lanes)} ORDER BY id${forUpdate}`.as(idOf),
  });
  const used = new Set(yield* lanesInUse(lanes, units));
  const idle = found.filter(({ id }) => !used.has(id));
  const untouched = new Set(gates);
  const unwanted = idle.flatMap(({ gate }) => (untouched.has(gate) && !asked.has(gate) ? [gate] : []));
  const gone = [...new Set(unwanted)].sort(inByteOrder);
  const empty = idle.map(({ id }) => id);
  yield* commit([
    units.length > 0 && forget(units),
    empty.length > 0 && [
      sql`DELETE FROM sluice_event WHERE subject ${oneOf(empty)}`,
      sql`DELETE FROM sluice_lane WHERE id ${oneOf(empty)}`,
    ],
    gone.length > 0 && sql`DELETE FROM sluice_gate WHERE name ${oneOf(gone)}`,
  ]);
  return units.length + empty.length + gone.length;
}

/** Locks these gates, and returns those that are as they were born. */
const lockGates = (keys: readonly string[]): Sql<string> =>
  sql`SELECT name, capacity, declared, paused, lease_ms, set_by, n,
      CASE WHEN EXISTS (SELECT 1 FROM sluice_declared d WHERE d.gate = sluice_gate.name) THEN 1 ELSE 0 END AS is_declared,
      CASE WHEN EXISTS (SELECT 1 FROM sluice_event e WHERE e.subject = sluice_gate.name) THEN 1 ELSE 0 END AS is_told
    FROM sluice_gate WHERE name ${oneOf(keys)} ORDER BY name${forUpdate}`.as(untouchedName);

function untouchedName(row: Row): string {
  const name = text(row.name);
  const { limit } = undeclared(name);
  const isBorn = intOrNull(row.capacity) === limit && intOrNull(row.declared) === limit && int(row.n) === 0;
  const isSet = textOrNull(row.set_by) !== null || row.lease_ms !== null || flag(row.paused);
  return isBorn && !isSet && !flag(row.is_declared) && !flag(row.is_told) ? name : "";
}

function* lanesInUse(lanes: readonly string[], leaving: readonly string[]): Flow<string[]> {
  const among = new Set(lanes);
  const left = new Set(leaving);
  const { waiting, others } = yield* flight({
    waiting: sql`SELECT id, lane FROM sluice_waiting WHERE lane ${oneOf(lanes)}`.as((row) => ({
      id: text(row.id),
      lane: text(row.lane),
    })),
    others: [
      sql`SELECT DISTINCT lane FROM sluice_running WHERE ${throughKey("id")}`,
      sql`SELECT DISTINCT lane FROM sluice_stopping WHERE epoch > 0`,
      sql`SELECT DISTINCT lane FROM sluice_arrival WHERE seq > 0`,
    ].map((each) => each.as(({ lane }) => text(lane))),
  });
  const inLine = waiting.flatMap(({ id, lane }) => (left.has(id) ? [] : [lane]));
  return [...inLine, ...others.filter((lane) => among.has(lane))];
}
