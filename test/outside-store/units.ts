/** Enqueues and reads units. */
import type { Enqueued, NewTask, TaskFilter, TaskRow, TaskState } from "sluice/store";
import type { Unit, World } from "./world.ts";
import { tell } from "./world.ts";

export function enqueue(world: World, now: number, tasks: readonly NewTask[]): Enqueued[] {
  return tasks.map((task) => {
    const twin = [...world.units.values()].find(
      ({ name, key }) => key !== null && key === task.key && name === task.name,
    );
    if (twin) return { id: twin.id, created: false };
    if (world.units.has(task.id)) throw new Error(`${task.id} is there already`);
    world.units.set(task.id, newUnit(task, now));
    tell(world, task.id, {
      kind: "TaskEnqueued",
      at: now,
      data: JSON.stringify({ priority: task.priority }),
    });
    if (task.runAt === null && task.delayMs === null) world.arrivals.add(task.id);
    return { id: task.id, created: true };
  });
}

function newUnit({ runAt, delayMs, goodForMs, goodUntil, ...task }: NewTask, now: number): Unit {
  const due = runAt ?? (delayMs === null ? null : now + delayMs);
  return {
    ...task,
    goodUntil: goodForMs === null ? goodUntil : now + goodForMs,
    createdAt: now,
    place: due === null ? "waiting" : "later",
    at: due ?? now,
    since: due ?? now,
    attempt: 0,
    losses: 0,
    claim: null,
    endedAt: 0,
    body: null,
  };
}

export function taskRow(unit: Unit): TaskRow {
  const { id, name, lane, priority, input, options, key, attempt, losses, createdAt, goodUntil, body } = unit;
  const isClaimed = unit.place === "claimed";
  const isOver = unit.place !== "waiting" && unit.place !== "later" && !isClaimed;
  const last = isClaimed || isOver ? unit.claim : null;
  const at = isOver ? unit.endedAt : isClaimed ? (unit.claim?.claimedAt ?? 0) : unit.at;
  return {
    ...{ id, name, priority, input, options, key, attempt, losses, createdAt, goodUntil, body, at },
    since: unit.place === "waiting" ? unit.since : at,
    queue: lane.queue,
    lane: lane.id,
    asks: lane.asks,
    state: stateOf(unit),
    session: last?.session ?? null,
    epoch: last?.epoch ?? null,
    holds: isClaimed && unit.claim?.held === true,
    progress: isClaimed ? (unit.claim?.progress ?? null) : null,
  };
}

function stateOf({ place, claim }: Unit): TaskState {
  if (place !== "claimed") return place;
  return claim?.isStarted || claim?.progress != null ? "running" : "claimed";
}

export function tasks(world: World, { state, queue, name, before, limit }: TaskFilter): TaskRow[] {
  return [...world.units.values()]
    .map(taskRow)
    .filter((row) => state === undefined || row.state === state)
    .filter((row) => queue === undefined || row.queue === queue)
    .filter((row) => name === undefined || row.name === name)
    .filter((row) => before === undefined || row.id < before)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, limit);
}
