/** Actions of operators: cancel a task, put a finished one back in line, change a limit. */
import type { Limit } from "../../core/gate/gate.ts";
import { familyOf } from "../../core/gate/key.ts";
import { undeclared } from "../../core/gate/kind.ts";
import type { RunState } from "../runs.ts";
import type { LimitChange, TaskState } from "../store.ts";
import { makesGate } from "../store.ts";
import { announce } from "./arrival.ts";
import { forgetEmptied } from "./aside.ts";
import { endStoppedBy } from "./end-line.ts";
import { cancelRun } from "./end-run.ts";
import { leaveNewsOf } from "./news.ts";
import { gateInForce } from "./read.ts";
import type { GateRecord, Tables } from "./tables.ts";
import { negated } from "./tables.ts";
import { cancelledBy, withdraw } from "./withdraw.ts";

type Was = { readonly was: TaskState };

export function cancel(tables: Tables, now: number, id: string, by: string): Was | undefined {
  const run = cancelRun(tables, now, id, by);
  if (run) return { was: OF_RUN[run.was] };
  const was = withdraw(tables, now, id, cancelledBy(by));
  if (was) leaveNewsOf(tables, [id]);
  if (was) endStoppedBy(tables, now, id);
  if (was) forgetEmptied(tables, id);
  const outcome = was ?? tables.outcome.get(id)?.state;
  return outcome && { was: outcome };
}

/** The state of a run, as the state that any unit has. */
const OF_RUN: Readonly<Record<RunState, TaskState>> = {
  queued: "waiting",
  notStarted: "claimed",
  started: "running",
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
};

/** Attempts and losses start again at zero; the history continues. */
export function retry(tables: Tables, now: number, id: string, by: string): Was | undefined {
  const outcome = tables.outcome.get(id);
  const task = tables.task.get(id);
  // A run and its steps can only be repeated by another run.
  if (!outcome || !task || task.run !== null || tables.run.has(id)) return undefined;
  const n = outcome.n + 1;
  const life = { attempt: 0, losses: 0, goodUntil: null, n };
  tables.outcome.delete(id);
  tables.deadline.delete(id);
  tables.waiting.insert({ id, lane: task.lane, precedence: negated(task.priority), at: now, ...life });
  announce(tables, [id]);
  const data = JSON.stringify({ by, was: outcome.state });
  tables.event.insert({ subject: id, n, kind: "TaskRetried", at: now, data });
  return { was: outcome.state };
}

const CHANGED = {
  value: "LimitChanged",
  declared: "LimitReset",
  paused: "GatePaused",
  resumed: "GateResumed",
} as const;

export function changeLimit(
  tables: Tables,
  now: number,
  change: LimitChange,
): { readonly from: Limit; readonly limit: Limit } | undefined {
  const known = tables.gate.get(change.key);
  if (!known && !makesGate(change)) return undefined;
  const told = Math.max(0, ...tables.event.of(change.key).map(({ n }) => n));
  const before = known ?? { ...unborn(change.key), capacity: undeclared(change.key).limit };
  const family = familyOf(change.key);
  const above = family === null ? undefined : tables.gate.get(family);
  const gate = changed({ ...before, n: Math.max(before.n, told) }, now, change);
  tables.gate.put(gate);
  const from = gateInForce(before, above).limit;
  const { limit } = gateInForce(gate, above);
  const data = JSON.stringify({ by: change.by, from, to: limit });
  tables.event.insert({ subject: change.key, n: gate.n, kind: CHANGED[change.to], at: now, data });
  return { from, limit };
}

function changed(gate: GateRecord, now: number, change: LimitChange): GateRecord {
  const next = { ...gate, n: gate.n + 1 };
  if (change.to === "value") {
    const { limit, by, leaseMs = gate.leaseMs } = change;
    return { ...next, capacity: limit, leaseMs, setBy: by, setAt: now };
  }
  if (change.to === "declared") {
    const { declared, leaseDeclared } = gate;
    return { ...next, capacity: declared, leaseMs: leaseDeclared, setBy: null, setAt: now };
  }
  return { ...next, paused: change.to === "paused" };
}

/** A gate that no app or operator has set. */
export function unborn(name: string): GateRecord {
  const { line, limit } = undeclared(name);
  return {
    name,
    capacity: null,
    declared: limit,
    paused: false,
    line,
    leaseMs: null,
    leaseDeclared: null,
    setBy: null,
    setAt: null,
    n: 0,
  };
}
