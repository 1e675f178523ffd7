/** What people ask: one task, lists, limits, queues, history. Nothing here is locked. */

import type { Limit } from "../../core/gate/gate.ts";
import { familyIn, familyOf, queueKey } from "../../core/gate/key.ts";
import type { Own } from "../family.ts";
import { bindsPerValue, inherit } from "../family.ts";
import type { Flow, Row } from "../flow.ts";
import { flight } from "../flow.ts";
import { RUNS } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { oneOf, raw, sql } from "../sql.ts";
import type {
  EventRow,
  GateInfo,
  GateState,
  QueueRow,
  SessionRow,
  TaskFilter,
  TaskRow,
  TaskState,
} from "../store.ts";
import { heldPerGate } from "../usage.ts";
import { appSaying, selectSayings } from "./declare.ts";
import { history, selectHistory } from "./event.ts";
import { ownGate } from "./gate-row.ts";
import { selectNow, selectSessions, selectUsage } from "./look.ts";
import { usageRow } from "./pass.ts";

const STATE =
  "CASE WHEN o.state IS NOT NULL THEN o.state WHEN r.epoch IS NOT NULL THEN CASE WHEN r.started_at IS NULL AND r.progress IS NULL THEN 'claimed' ELSE 'running' END WHEN w.id IS NOT NULL THEN 'waiting' WHEN d.id IS NOT NULL THEN 'later' ELSE 'unknown' END";
const TASK = raw(
  `t.id, t.name, t.queue, t.lane, t.asks, t.priority, t.input, t.options, t.idem_key, t.created_at, ${STATE} AS state,
   COALESCE(o.attempt, r.attempt, w.attempt, d.attempt) AS attempt, COALESCE(o.losses, r.losses, w.losses, d.losses) AS losses,
   COALESCE(o.finished_at, r.claimed_at, w.at, d.at) AS at, COALESCE(r.session, o.session) AS session, COALESCE(r.epoch, o.epoch) AS epoch, t.good_until, r.held, r.progress, o.body`,
);
const FROM = raw(
  "sluice_task t LEFT JOIN sluice_waiting w ON w.id = t.id LEFT JOIN sluice_later d ON d.id = t.id LEFT JOIN sluice_running r ON r.id = t.id LEFT JOIN sluice_outcome o ON o.id = t.id",
);

export function* clock(): Flow<number> {
  const [rows = []] = yield* flight(selectNow());
  return Number(rows[0]?.now);
}

export const selectTask = (id: string): Sql => sql`SELECT ${TASK} FROM ${FROM} WHERE t.id = ${id}`;

export function* task(id: string): Flow<TaskRow | undefined> {
  const [found = []] = yield* flight(selectTask(id));
  return found[0] && taskRow(found[0]);
}

export function* tasksById(ids: readonly string[]): Flow<TaskRow[]> {
  const [found = []] = yield* flight(sql`SELECT ${TASK} FROM ${FROM} WHERE t.id ${oneOf(ids)}`);
  return found.map(taskRow);
}

export function* ended(ids: readonly string[]): Flow<string[]> {
  const [over = [], there = []] = yield* flight(
    sql`SELECT id FROM sluice_outcome WHERE id ${oneOf(ids)}`,
    sql`SELECT id FROM sluice_task WHERE id ${oneOf(ids)}`,
  );
  const known = new Set(there.map((row) => row.id));
  const final = new Set(over.map((row) => row.id));
  return ids.filter((id) => final.has(id) || !known.has(id));
}

export function* tasks({ state, queue, name, before, limit }: TaskFilter): Flow<TaskRow[]> {
  const where = [sql`t.queue <> ${RUNS}`];
  if (state) where.push(sql`${raw(STATE)} = ${state}`);
  if (queue) where.push(sql`t.queue = ${queue}`);
  if (name) where.push(sql`t.name = ${name}`);
  if (before) where.push(sql`t.id < ${before}`);
  const all = where.reduce((left, right) => sql`${left} AND ${right}`);
  const [found = []] = yield* flight(
    sql`SELECT ${TASK} FROM ${FROM} WHERE ${all} ORDER BY t.id DESC LIMIT ${raw(String(Math.trunc(limit)))}`,
  );
  return found.map(taskRow);
}

export function* find(prefix: string): Flow<string[]> {
  const end = `${prefix}~`;
  const [found = []] = yield* flight(
    sql`SELECT id FROM sluice_task WHERE id >= ${prefix} AND id < ${end} ORDER BY id LIMIT 10`,
  );
  return found.map((row) => row.id as string);
}

export function* events(subject: string): Flow<EventRow[]> {
  return history(yield* flight(...selectHistory(subject)));
}

const selectGateColumns = sql`SELECT name, capacity, declared, paused, line, lease_ms, set_by, set_at FROM sluice_gate`;

export const selectGates = (): Sql => sql`${selectGateColumns} ORDER BY name`;

export function* gates(): Flow<GateState[]> {
  const [found = [], used = [], said = []] = yield* flight(selectGates(), selectUsage(), selectSayings());
  return gateStates(found, heldPerGate(used.map(usageRow)), said);
}

export function gateStates(
  found: readonly Row[],
  held: ReadonlyMap<string, number>,
  said: readonly Row[],
): GateState[] {
  return gateInfos(found).map((gate) => ({
    ...gate,
    held: held.get(gate.key) ?? 0,
    said: said.filter((row) => row.gate === gate.key).map(appSaying),
  }));
}

/** A row without a name is no gate: nobody can ask for it. The doctor tells of it. */
export function gateInfos(found: readonly Row[]): GateInfo[] {
  const named = found.filter((row) => row.name !== "");
  const all = new Map(named.map((row) => [row.name as string, ownGate(row)]));
  return named.map((row) => {
    const key = row.name as string;
    const own = all.get(key) as Own;
    const family = familyIn(all, key);
    const { declared, setBy } = own;
    const perValue = bindsPerValue(own, family);
    return {
      key,
      ...inherit(own, family),
      perValue,
      declared,
      setBy,
      setAt: row.set_at === null ? null : Number(row.set_at),
    };
  });
}

export function* limits(keys: readonly string[]): Flow<ReadonlyMap<string, Limit>> {
  const families = keys.flatMap((key) => familyOf(key) ?? []);
  const [found = []] = yield* flight(sql`${selectGateColumns} WHERE name ${oneOf([...keys, ...families])}`);
  return new Map(gateInfos(found).map(({ key, limit }) => [key, limit]));
}

export function* queues(): Flow<QueueRow[]> {
  const per = (table: string): Sql => sql`SELECT lane, count(*) AS units FROM ${raw(table)} GROUP BY lane`;
  const [ranks = [], said = [], waiting = [], running = [], later = [], lanes = []] = yield* flight(
    sql`SELECT name, queue_rank FROM sluice_queue`,
    sql`SELECT gate, app, queue_rank FROM sluice_declared WHERE queue_rank IS NOT NULL ORDER BY gate, app`,
    per("sluice_waiting"),
    per("sluice_running"),
    sql`SELECT t.queue, count(*) AS units FROM sluice_later u JOIN sluice_task t ON t.id = u.id GROUP BY t.queue`,
    // What no pass has taken in yet is in line all the same.
    sql`SELECT id AS lane, queue FROM sluice_lane UNION SELECT lane, queue FROM sluice_arrival`,
  );
  const queueOf = new Map(lanes.map((row) => [row.lane, row.queue as string]));
  const rank = new Map(ranks.map((row) => [row.name as string, Number(row.queue_rank)]));
  const count = (rows: readonly Row[], name: string): number =>
    rows.reduce(
      (sum, row) => sum + ((row.queue ?? queueOf.get(row.lane)) === name ? Number(row.units) : 0),
      0,
    );
  const names = new Set([...rank.keys(), ...queueOf.values(), ...later.map((row) => row.queue as string)]);
  const found = [...names]
    .filter((name) => name !== RUNS)
    .map((name) => ({
      name,
      rank: rank.get(name) ?? 100,
      ranks: said
        .filter(({ gate }) => gate === queueKey(name))
        .map((row) => ({ app: row.app as string, rank: Number(row.queue_rank) })),
      waiting: count(waiting, name),
      running: count(running, name),
      later: count(later, name),
    }));
  return found.sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
}

export function* waiting(): Flow<{ queue: string; task: string; asks: string; units: number }[]> {
  const [found = []] = yield* flight(
    sql`SELECT l.queue, l.task, l.asks, SUM(u.units) AS units FROM (SELECT lane, count(*) AS units FROM sluice_waiting GROUP BY lane) AS u
      JOIN (SELECT id, queue, task, asks FROM sluice_lane UNION SELECT lane, queue, task, asks FROM sluice_arrival) AS l ON l.id = u.lane
      GROUP BY l.queue, l.task, l.asks ORDER BY l.queue, l.task, l.asks`,
  );
  return found.map((row) => ({
    queue: row.queue as string,
    task: row.task as string,
    asks: row.asks as string,
    units: Number(row.units),
  }));
}

export function* sessions(): Flow<(SessionRow & { name: string; expiresAt: number })[]> {
  const [found = []] = yield* flight(selectSessions());
  const sorted = found
    .filter(({ id }) => id !== RUNS)
    .sort((a, b) => ((a.id as string) < (b.id as string) ? -1 : 1));
  return sorted.map((row) => ({
    id: row.id as string,
    name: row.name as string,
    slots: Number(row.slots),
    serves: row.serves as string,
    expiresAt: Number(row.expires_at),
  }));
}

export const taskRow = (row: Row): TaskRow => ({
  id: row.id as string,
  name: row.name as string,
  queue: row.queue as string,
  lane: row.lane as string,
  asks: row.asks as string,
  priority: Number(row.priority),
  state: row.state as TaskState,
  input: row.input as string,
  options: row.options as string,
  key: row.idem_key as string | null,
  attempt: Number(row.attempt),
  losses: Number(row.losses),
  createdAt: Number(row.created_at),
  at: Number(row.at),
  session: row.session as string | null,
  epoch: row.epoch === null ? null : Number(row.epoch),
  goodUntil: row.good_until === null ? null : Number(row.good_until),
  holds: Number(row.held ?? 0) === 1,
  progress: row.progress as string | null,
  body: row.body as string | null,
});
