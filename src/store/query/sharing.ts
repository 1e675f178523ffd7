/**
 * Units that need locks shared with other engines. Every write locks the leader's row first, so a process
 * that no longer leads changes nothing.
 *
 * Locks: the leader, then gates by name. A pass locks gates and never the leader.
 */
import { sharedGate } from "../../core/shared/lock.ts";
import type { Flow } from "../flow.ts";
import { commit, flight, send } from "../flow.ts";
import type { Intent, Leading, SharingUnit } from "../ports/sharing.ts";
import type { Row } from "../row.ts";
import { flag, idOf, int, intOrNull, only, text, textOrNull, word } from "../row.ts";
import type { Sql } from "../sql.ts";
import { by, forUpdate, leaseNow, now, oneOf, raw, rows, sql, throughKey } from "../sql.ts";

interface Leader {
  readonly engine: string;
  readonly session: string;
  readonly alive: boolean;
  readonly n: number;
  readonly now: number;
}

const lockLeader =
  sql`SELECT engine, session, CASE WHEN until_at > ${leaseNow} THEN 1 ELSE 0 END AS alive, n, ${now} AS now FROM sluice_leader WHERE name = 'shared'${forUpdate}`.as(
    (row): Leader => ({
      engine: text(row.engine),
      session: text(row.session),
      alive: flag(row.alive),
      n: int(row.n),
      now: int(row.now),
    }),
  );

export function* lead(session: string, leaseMs: number, engine: string): Flow<Leading> {
  const leader = only(yield* send(lockLeader));
  const own = leader.engine === "" ? engine : leader.engine;
  if (leader.session !== session && leader.alive) return { leads: false, engine: own, now: leader.now };
  yield* commit(
    sql`UPDATE sluice_leader SET engine = ${own}, session = ${session}, until_at = ${leaseNow} + ${leaseMs} WHERE name = 'shared'`,
  );
  return { leads: true, engine: own, now: leader.now };
}

/** Undefined if another session leads. */
function* leader(session: string): Flow<Leader | undefined> {
  const found = only(yield* send(lockLeader));
  return found.session === session ? found : undefined;
}

const unitOfGate = by({
  postgres: "substr(g.name, 8)",
  sqlite: "substr(g.name, 8)",
  mysql: "SUBSTRING(g.name, 8)",
});

const isIn = (table: string): Sql => raw(`EXISTS (SELECT 1 FROM sluice_${table} p WHERE p.id = u.unit)`);

const OF_GATES = sql`SELECT ${unitOfGate} AS unit FROM sluice_gate g WHERE g.name >= 'shared:' AND g.name < 'shared;'`;
const GATE = by({
  postgres: "'shared:' || u.unit",
  sqlite: "'shared:' || u.unit",
  mysql: "CONCAT('shared:', u.unit)",
});

export function* sharing(): Flow<SharingUnit[]> {
  return yield* send(
    sql`SELECT u.unit, COALESCE(0 - w.precedence, t.priority, 0) AS priority, COALESCE(t.created_at, 0) AS created_at, COALESCE(t.options, '') AS options,
        CASE WHEN ${isIn("running")} OR ${isIn("stopping")} THEN 'claimed' WHEN w.id IS NOT NULL THEN 'waiting' WHEN ${isIn("later")} THEN 'later' ELSE 'gone' END AS place,
        CASE WHEN g.capacity = 1 THEN 1 ELSE 0 END AS opened, i.n, i.session
      FROM (${OF_GATES} UNION SELECT unit FROM sluice_intent WHERE ${throughKey("unit")}) AS u
      LEFT JOIN sluice_gate g ON g.name = ${GATE} LEFT JOIN sluice_task t ON t.id = u.unit
      LEFT JOIN sluice_waiting w ON w.id = u.unit LEFT JOIN sluice_intent i ON i.unit = u.unit ORDER BY u.unit`.as(
      unitRow,
    ),
  );
}

const unitRow = (row: Row): SharingUnit => ({
  unit: text(row.unit),
  priority: int(row.priority),
  createdAt: int(row.created_at),
  options: text(row.options),
  place: word(row.place),
  open: flag(row.opened),
  intent: intOrNull(row.n),
  session: textOrNull(row.session),
});

/** Locks these gates in the order of their names. */
const lockGates = (units: readonly string[]): Sql<string> =>
  sql`SELECT name AS id FROM sluice_gate WHERE name ${oneOf(units.map(sharedGate))} ORDER BY name${forUpdate}`.as(
    idOf,
  );

export function* intend(session: string, units: readonly string[]): Flow<Intent[]> {
  const found = yield* leader(session);
  if (!found || units.length === 0) return [];
  const free = yield* send(
    sql`SELECT w.id FROM sluice_waiting w WHERE w.id ${oneOf(units)} AND NOT EXISTS (SELECT 1 FROM sluice_intent i WHERE i.unit = w.id) ORDER BY w.id`.as(
      idOf,
    ),
  );
  const intents = free.map((unit, index) => ({ unit, n: found.n + 1 + index }));
  if (intents.length === 0) return [];
  const list = rows(
    "i",
    { unit: "text", n: "int", session: "text" },
    intents.map((intent) => ({ ...intent, session })),
  );
  yield* commit([
    sql`INSERT INTO sluice_intent (unit, n, session, at) SELECT i.unit, i.n, i.session, ${now} FROM ${list}`,
    sql`UPDATE sluice_leader SET n = ${found.n + intents.length} WHERE name = 'shared'`,
  ]);
  return intents;
}

/** Those of the intents that still stand. */
function* standing(intents: readonly Intent[]): Flow<Intent[]> {
  const found = yield* send(
    sql`SELECT unit, n FROM sluice_intent WHERE unit ${oneOf(intents.map(({ unit }) => unit))}`.as(
      (row): Intent => ({ unit: text(row.unit), n: int(row.n) }),
    ),
  );
  return found.filter(({ unit, n }) => intents.some((intent) => intent.unit === unit && intent.n === n));
}

export function* openShared(session: string, intents: readonly Intent[]): Flow<string[]> {
  if (intents.length === 0 || !(yield* leader(session))) return [];
  const units = (yield* standing(intents)).map(({ unit }) => unit);
  if (units.length === 0) return [];
  yield* send(lockGates(units));
  yield* commit(sql`UPDATE sluice_gate SET capacity = 1 WHERE name ${oneOf(units.map(sharedGate))}`);
  return units;
}

/** A pass locks an open gate exclusively. So under the locks of these gates, none of the units is admitted. */
export function* closeShared(session: string, intents: readonly Intent[]): Flow<string[]> {
  if (intents.length === 0 || !(yield* leader(session))) return [];
  const units = (yield* standing(intents)).map(({ unit }) => unit);
  if (units.length === 0) return [];
  yield* send(lockGates(units));
  const { running, stopping } = yield* flight({
    running: sql`SELECT id FROM sluice_running WHERE id ${oneOf(units)}`.as(idOf),
    stopping: sql`SELECT id FROM sluice_stopping WHERE id ${oneOf(units)}`.as(idOf),
  });
  const claimed = new Set([...running, ...stopping]);
  const closed = units.filter((unit) => !claimed.has(unit));
  yield* commit(
    closed.length > 0 && sql`UPDATE sluice_gate SET capacity = 0 WHERE name ${oneOf(closed.map(sharedGate))}`,
  );
  return closed;
}

export function* forgetShared(
  session: string,
  intents: readonly Intent[],
  gone: readonly string[],
): Flow<void> {
  if (!(yield* leader(session))) return;
  const units = (yield* standing(intents)).map(({ unit }) => unit);
  yield* send(lockGates(gone));
  const lanes = sql`SELECT t.lane FROM sluice_task t WHERE t.id ${oneOf(gone)}`;
  yield* commit([
    units.length > 0 && sql`DELETE FROM sluice_intent WHERE unit ${oneOf(units)}`,
    gone.length > 0 && [
      sql`DELETE FROM sluice_gate WHERE name ${oneOf(gone.map(sharedGate))}`,
      by({
        postgres: sql`DELETE FROM sluice_lane WHERE id IN (${lanes})`,
        sqlite: sql`DELETE FROM sluice_lane WHERE id IN (${lanes})`,
        mysql: sql`DELETE l FROM sluice_lane l JOIN (${lanes}) AS t ON t.lane = l.id`,
      }),
    ],
  ]);
}
