/** Queries: one task, lists, live sessions, history. Nothing here is locked. */
import { isProcessOfLocks, LOCKS } from "../../core/lock/request.ts";
import type { Flow } from "../flow.ts";
import { flight, send } from "../flow.ts";
import { idOf, only } from "../row.ts";
import { RUN_QUEUES, RUNS } from "../runs.ts";
import { oneOf, raw, sql } from "../sql.ts";
import type { EventRow, TaskFilter, TaskRow } from "../store.ts";
import { history } from "./event.ts";
import type { NamedSession } from "./look.ts";
import { selectNow, selectSessions } from "./look.ts";
import { selectTask, selectTasks, TASK_STATE, taskRows } from "./task-row.ts";

export { gates, limits } from "./gates.ts";
export { queues, waiting } from "./queues.ts";

export function* clock(): Flow<number> {
  return only(yield* send(selectNow()));
}

export function* task(id: string): Flow<TaskRow | undefined> {
  const [found] = yield* taskRows(yield* send(selectTask(id)));
  return found;
}

export function* tasksById(ids: readonly string[]): Flow<TaskRow[]> {
  return yield* taskRows(yield* send(selectTasks(sql`WHERE t.id ${oneOf(ids)}`)));
}

export function* ended(ids: readonly string[]): Flow<string[]> {
  const { over, there } = yield* flight({
    over: sql`SELECT id FROM sluice_outcome WHERE id ${oneOf(ids)}`.as(idOf),
    there: sql`SELECT id FROM sluice_task WHERE id ${oneOf(ids)}`.as(idOf),
  });
  const known = new Set(there);
  const final = new Set(over);
  return ids.filter((id) => final.has(id) || !known.has(id));
}

export function* tasks({ state, queue, name, before, limit }: TaskFilter): Flow<TaskRow[]> {
  const where = [sql`NOT t.queue ${oneOf([...RUN_QUEUES, LOCKS])}`];
  if (state) where.push(sql`${TASK_STATE} = ${state}`);
  if (queue) where.push(sql`t.queue = ${queue}`);
  if (name) where.push(sql`t.name = ${name}`);
  if (before) where.push(sql`t.id < ${before}`);
  const all = where.reduce((left, right) => sql`${left} AND ${right}`);
  const page = sql`WHERE ${all} ORDER BY t.id DESC LIMIT ${raw(String(Math.trunc(limit)))}`;
  return yield* taskRows(yield* send(selectTasks(page)));
}

export function find(prefix: string): Flow<string[]> {
  const end = `${prefix}~`;
  return send(
    sql`SELECT id FROM sluice_task WHERE id >= ${prefix} AND id < ${end} ORDER BY id LIMIT 10`.as(idOf),
  );
}

export const events = (subject: string): Flow<EventRow[]> => history(subject);

export function* sessions(): Flow<NamedSession[]> {
  const found = yield* send(selectSessions());
  return found
    .filter(({ id, name }) => id !== RUNS && !isProcessOfLocks(name))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}
