/** Reads for users: one task, lists, limits, queues, history. */

import type { Limit } from "../../core/gate/gate.ts";
import { familyOf } from "../../core/gate/key.ts";
import { isOfLocks, isProcessOfLocks, LOCKS } from "../../core/lock/request.ts";
import type { Inherited, Own } from "../family.ts";
import { bindsPerValue, inherit } from "../family.ts";
import { inLineSince } from "../in-line.ts";
import { isRunQueue, RUN_QUEUES, RUNS } from "../runs.ts";
import type {
  EventRow,
  GateInfo,
  GateState,
  QueueRow,
  Store,
  TaskFilter,
  TaskRow,
  TaskState,
} from "../store.ts";
import { heldPerGate } from "../usage.ts";
import { ranksOf, usage } from "./look.ts";
import type { GateRecord, Tables, TaskRecord } from "./tables.ts";

const FOUND = 10;

export function task(tables: Tables, id: string): TaskRow | undefined {
  const found = tables.task.get(id);
  return found && taskRow(tables, found);
}

export function tasks(tables: Tables, { state, queue, name, before, limit }: TaskFilter): TaskRow[] {
  const found = tables.task
    .all()
    .reverse()
    .filter(
      (row) =>
        !isRunQueue(row.queue) &&
        !isOfLocks(row.queue) &&
        (!queue || row.queue === queue) &&
        (!name || row.name === name) &&
        (!before || row.id < before),
    )
    .map((row) => taskRow(tables, row))
    .filter((row) => !state || row.state === state);
  return found.slice(0, Math.trunc(limit));
}

function taskRow(tables: Tables, record: TaskRecord): TaskRow {
  const { idemKey, goodUntil, run: _, step: __, item: ___, ...body } = record;
  const outcome = tables.outcome.get(body.id);
  const [running] = tables.running.of(body.id);
  const unit = running ?? tables.waiting.get(body.id) ?? tables.later.get(body.id);
  const at = outcome?.finishedAt ?? running?.claimedAt ?? unit?.at ?? 0;
  return {
    ...body,
    state: stateOf(tables, body.id),
    key: idemKey,
    attempt: outcome?.attempt ?? unit?.attempt ?? 0,
    losses: outcome?.losses ?? unit?.losses ?? 0,
    at,
    since: tables.waiting.has(body.id) ? inLineSince(at, events(tables, body.id)) : at,
    session: running?.session ?? outcome?.session ?? null,
    epoch: running?.epoch ?? outcome?.epoch ?? null,
    goodUntil,
    holds: running?.held ?? false,
    progress: running?.progress ?? null,
    body: outcome?.body ?? null,
  };
}

export function stateOf(tables: Tables, id: string): TaskState {
  const outcome = tables.outcome.get(id);
  if (outcome) return outcome.state;
  const [running] = tables.running.of(id);
  if (running) return running.startedAt === null && running.progress === null ? "claimed" : "running";
  if (tables.waiting.has(id)) return "waiting";
  if (tables.later.has(id)) return "later";
  throw new Error(`task ${id} is nowhere`);
}

export function find(tables: Tables, prefix: string): string[] {
  const ids = tables.task.all().map(({ id }) => id);
  return ids.filter((id) => id >= prefix && id < `${prefix}~`).slice(0, FOUND);
}

export function events(tables: Tables, subject: string): EventRow[] {
  return tables.event.of(subject).sort((a, b) => a.n - b.n);
}

export function gateInfos(tables: Tables): GateInfo[] {
  return tables.gate.all().map((gate) => {
    const { name: key, declared, setBy, setAt } = gate;
    const name = familyOf(key);
    const family = name === null ? undefined : tables.gate.get(name);
    const perValue = bindsPerValue(key, ownOf(gate), family && ownOf(family));
    return { key, ...gateInForce(gate, family), perValue, declared, setBy, setAt };
  });
}

const ownOf = ({ capacity, declared, setBy, paused, line, leaseMs }: GateRecord): Own => {
  return { limit: capacity, declared, setBy, paused, line, leaseMs };
};

/** The rule in force at a gate: its own, combined with its family's. */
export function gateInForce(gate: GateRecord, family: GateRecord | undefined): Inherited {
  return inherit(gate.name, ownOf(gate), family && ownOf(family));
}

/** The limits of these gates, and of the families they inherit from. */
export function limits(tables: Tables, keys: readonly string[]): ReadonlyMap<string, Limit> {
  const named = new Set(keys.flatMap((key) => [key, familyOf(key) ?? key]));
  const found = gateInfos(tables).filter(({ key }) => named.has(key));
  return new Map(found.map(({ key, limit }) => [key, limit]));
}

export function gates(tables: Tables, now: number): GateState[] {
  const held = heldPerGate(usage(tables, now));
  return gateInfos(tables).map((gate) => ({
    ...gate,
    held: held.get(gate.key) ?? 0,
    said: tables.declared
      .of(gate.key)
      .sort((a, b) => (a.app < b.app ? -1 : 1))
      .map(({ app, capacity: limit, leaseMs, queueRank: rank, at }) => ({ app, limit, leaseMs, rank, at })),
  }));
}

export function queues(tables: Tables): QueueRow[] {
  const queueOf = (id: string): string | undefined => tables.task.get(id)?.queue;
  const waiting = tally(tables.waiting.all().map(({ id }) => queueOf(id)));
  const running = tally(tables.running.all().map(({ id }) => queueOf(id)));
  const later = tally(tables.later.all().map(({ id }) => queueOf(id)));
  const lanes = [...tables.lane.all(), ...tables.arrival.all()].map(({ queue }) => queue);
  const names = new Set([...tables.queue.all().map(({ name }) => name), ...lanes, ...later.keys()]);
  for (const queue of [...RUN_QUEUES, LOCKS]) names.delete(queue);
  const found = [...names].map((name) => ({
    name,
    rank: tables.queue.get(name)?.queueRank ?? 100,
    ranks: ranksOf(tables, name),
    waiting: waiting.get(name) ?? 0,
    running: running.get(name) ?? 0,
    later: later.get(name) ?? 0,
  }));
  return found.sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
}

/** The waiting units of each lane, whether or not a pass has taken them in. */
export function waiting(tables: Tables): Awaited<ReturnType<Store["waiting"]>> {
  const found = new Map<string, { queue: string; task: string; asks: string; units: number }>();
  for (const { id } of tables.waiting.all()) {
    const unit = tables.task.get(id);
    if (!unit) continue;
    const { queue, name: task, asks } = unit;
    const key = [queue, task, asks].join("\0");
    found.set(key, { queue, task, asks, units: (found.get(key)?.units ?? 0) + 1 });
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

function tally(queues: readonly (string | undefined)[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const queue of queues) if (queue !== undefined) counts.set(queue, (counts.get(queue) ?? 0) + 1);
  return counts;
}

export function sessions(tables: Tables, now: number): Awaited<ReturnType<Store["sessions"]>> {
  const living = tables.session
    .all()
    .filter(({ id, name, expiresAt }) => id !== RUNS && !isProcessOfLocks(name) && expiresAt > now);
  return living.map(({ id, name, slots, serves, expiresAt }) => ({ id, name, slots, serves, expiresAt }));
}
