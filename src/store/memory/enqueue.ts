/** Enqueue: a task, its place in line or later, its deadline, and one arrival for each lane. */
import type { Enqueued, NewTask } from "../store.ts";
import { announce } from "./arrival.ts";
import type { Tables, WaitingRecord } from "./tables.ts";
import { inLine, negated, twinKey } from "./tables.ts";

export function enqueue(tables: Tables, now: number, tasks: readonly NewTask[]): Enqueued[] {
  for (const task of tasks) {
    if (task.key === null || tables.task.of(twinKey(task.name, task.key)).length === 0)
      insertTask(tables, now, task);
  }
  const created = tasks.filter(({ id }) => tables.task.has(id));
  const waiting = created.flatMap((task) => putInLine(tables, now, task));
  announce(tables, firstOfEachLane(waiting));
  return tasks.map((task) => answer(tables, task));
}

function answer(tables: Tables, { id, name, key }: NewTask): Enqueued {
  if (tables.task.has(id)) return { id, created: true };
  const [twin] = tables.task.of(twinKey(name, key as string));
  return { id: twin?.id ?? id, created: false };
}

const goodUntilOf = ({ goodUntil, goodForMs }: NewTask, now: number): number | null =>
  goodForMs === null ? goodUntil : now + goodForMs;

function insertTask(tables: Tables, now: number, task: NewTask): void {
  tables.task.insert({
    id: task.id,
    name: task.name,
    queue: task.lane.queue,
    lane: task.lane.id,
    asks: task.lane.asks,
    priority: task.priority,
    input: task.input,
    options: task.options,
    idemKey: task.key,
    goodUntil: goodUntilOf(task, now),
    createdAt: now,
  });
}

/** The unit where it waits; none when it comes later. */
function putInLine(tables: Tables, now: number, task: NewTask): WaitingRecord[] {
  const { id, priority, runAt, delayMs } = task;
  const goodUntil = goodUntilOf(task, now);
  const data = JSON.stringify({ priority });
  tables.event.insert({ subject: id, n: 1, kind: "TaskEnqueued", at: now, data });
  if (goodUntil !== null) tables.deadline.insert({ id, at: goodUntil });
  const place = { id, lane: task.lane.id, precedence: negated(priority) };
  const unit = { ...place, at: now, attempt: 0, losses: 0, goodUntil, n: 1 };
  if (runAt !== null || delayMs !== null) {
    tables.later.insert({ ...unit, at: runAt ?? now + (delayMs as number), because: "delay" });
    return [];
  }
  tables.waiting.insert(unit);
  return [unit];
}

/** Of each lane of the call, the unit that stands first. */
function firstOfEachLane(waiting: readonly WaitingRecord[]): string[] {
  const best = new Map<string, WaitingRecord>();
  for (const unit of waiting) {
    const known = best.get(unit.lane);
    if (!known || inLine(unit, known) < 0) best.set(unit.lane, unit);
  }
  return [...best.values()].map(({ id }) => id);
}
