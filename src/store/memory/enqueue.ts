/** Enqueue: writes a body, its place in line or later, its deadline, and one arrival for each lane. */
import type { Enqueued, NewTask } from "../store.ts";
import { announce } from "./arrival.ts";
import type { Tables, WaitingRecord } from "./tables.ts";
import { inLine, negated, twinKey } from "./tables.ts";

/** A task, a step of a run, or an item of a step. */
type NewUnit = NewTask & {
  readonly run?: string;
  readonly step?: string;
  readonly item?: number | undefined;
};

export function enqueue(tables: Tables, now: number, units: readonly NewUnit[]): Enqueued[] {
  putInLine(tables, now, insertBodies(tables, now, units));
  return units.map((unit) => answer(tables, unit));
}

/** Inserts all units except those whose key is taken. */
export function insertBodies<T extends NewUnit>(tables: Tables, now: number, units: readonly T[]): T[] {
  for (const unit of units) {
    if (unit.key === null || tables.task.of(twinKey(unit.name, unit.key)).length === 0)
      insertTask(tables, now, unit);
  }
  return units.filter(({ id }) => tables.task.has(id));
}

export function putInLine(tables: Tables, now: number, units: readonly NewTask[]): void {
  const waiting = units.flatMap((unit) => {
    record(tables, now, unit);
    const goodUntil = goodUntilOf(unit, now);
    if (goodUntil !== null) tables.deadline.insert({ id: unit.id, at: goodUntil });
    return place(tables, now, unit);
  });
  announce(tables, firstOfEachLane(waiting));
}

export function answer(tables: Tables, { id, name, key }: NewTask): Enqueued {
  if (tables.task.has(id)) return { id, created: true };
  const [twin] = key === null ? [] : tables.task.of(twinKey(name, key));
  return { id: twin?.id ?? id, created: false };
}

const goodUntilOf = ({ goodUntil, goodForMs }: NewTask, now: number): number | null =>
  goodForMs === null ? goodUntil : now + goodForMs;

function insertTask(tables: Tables, now: number, task: NewUnit): void {
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
    run: task.run ?? null,
    step: task.step ?? null,
    item: task.item ?? null,
  });
}

/** Writes the first event of its history. */
export function record(tables: Tables, now: number, { id, priority }: NewTask): void {
  const data = JSON.stringify({ priority });
  tables.event.insert({ subject: id, n: 1, kind: "TaskEnqueued", at: now, data });
}

/** Returns the waiting unit; nothing if it is delayed. */
function place(tables: Tables, now: number, task: NewTask): WaitingRecord[] {
  const { id, priority, runAt, delayMs } = task;
  const spot = { id, lane: task.lane.id, precedence: negated(priority) };
  const unit = { ...spot, at: now, attempt: 0, losses: 0, goodUntil: goodUntilOf(task, now), n: 1 };
  if (runAt !== null || delayMs !== null) {
    tables.later.insert({ ...unit, at: runAt ?? now + (delayMs ?? 0), because: "delay" });
    return [];
  }
  tables.waiting.insert(unit);
  return [unit];
}

/** The first unit of each lane in this call. */
function firstOfEachLane(waiting: readonly WaitingRecord[]): string[] {
  const best = new Map<string, WaitingRecord>();
  for (const unit of waiting) {
    const known = best.get(unit.lane);
    if (!known || inLine(unit, known) < 0) best.set(unit.lane, unit);
  }
  return [...best.values()].map(({ id }) => id);
}
