/** Why a unit waits now, and what it waited for before: the same `admit` as in the pass, on what the store shows. */
import type { Plan, Waiter } from "../../core/gate/admit.ts";
import { admit } from "../../core/gate/admit.ts";
import { familyOf } from "../../core/gate/key.ts";
import type { Holder, Reason } from "../../core/gate/reason.ts";
import { asksOf } from "../../store/lane.ts";
import type { EventRow, LaneRow, WaitView } from "../../store/store.ts";
import { serving } from "./serving.ts";
import type { Standing } from "./snapshot.ts";
import { everyGate, waitersOf, workersOf } from "./snapshot.ts";

export interface Wait {
  readonly gates: readonly string[];
  readonly fromMs: number;
  readonly forMs: number;
}

export function reasonsOf(view: WaitView): readonly Reason[] {
  const { task } = view;
  if (task.state === "later")
    return [{ kind: "later", at: task.at, because: task.attempt > 0 ? "retry" : "delay" }];
  if (task.state !== "waiting" && task.state !== "claimed") return [];
  if (view.aside && task.state === "waiting") return [asideReason(view.aside)];
  const me = unitOf(view);
  const others = waitersOf(standingOf(view), view.sessions).filter(({ id }) => id !== me.id);
  const plan = admit({
    now: view.now,
    gates: everyGate(view, [task.asks, ...view.lanes.map(({ asks }) => asks)]),
    line: [...others, me],
    workers: workersOf(view.sessions, view.usage),
  });
  const reasons = plan.waiting.get(me.id) ?? [];
  return reasons.map((reason) =>
    reason.kind === "busy" ? { ...reason, ahead: aheadAtWorkers(view, me, plan) } : withCause(reason, view),
  );
}

export const asideReason = ({ id, error, at }: NonNullable<WaitView["aside"]>): Reason => ({
  kind: "aside",
  lane: id,
  error,
  at,
});

function unitOf(view: WaitView): Waiter {
  const { id, lane, priority, at, asks, queue, name } = view.task;
  const mark = view.lanes.find((row) => row.id === lane)?.mark ?? undefined;
  const workers = serving(view.sessions, { queue, task: name });
  return {
    id,
    lane,
    rank: view.rank,
    priority,
    at,
    asks: asksOf(asks),
    queue,
    name,
    mark,
    workers,
    ahead: aheadPerGate(view),
  };
}

/** The heads of the lanes that compete with it: what stands behind them waits for the same and is counted apart. */
function standingOf(view: WaitView): Standing[] {
  return view.lanes.map((lane) => ({
    lane,
    units: view.heads.filter((head) => head.lane === lane.id).slice(0, 1),
    cut: false,
  }));
}

function aheadPerGate(view: WaitView): Record<string, number> {
  const ahead: Record<string, number> = {};
  for (const { gate } of asksOf(view.task.asks)) ahead[gate] = 0;
  for (const { asks, units } of view.ahead) {
    for (const { gate } of asksOf(asks)) if (gate in ahead) ahead[gate] = (ahead[gate] ?? 0) + units;
  }
  return ahead;
}

/** What stands ahead in the lanes that only its own workers keep waiting: their heads tell, the rest wait alike. */
function aheadAtWorkers(view: WaitView, me: Waiter, plan: Plan): number {
  const isHeldBack = (lane: LaneRow): boolean => {
    const head = view.heads.find((row) => row.lane === lane.id && row.id !== me.id);
    return (head && plan.waiting.get(head.id)?.some(({ kind }) => kind !== "busy")) ?? false;
  };
  const shares = (lane: LaneRow): boolean =>
    serving(view.sessions, lane).some((worker) => me.workers?.includes(worker));
  const lanes = new Set(view.lanes.filter((lane) => shares(lane) && !isHeldBack(lane)).map(({ id }) => id));
  return view.ahead.reduce((sum, { lane, units }) => sum + (lanes.has(lane) ? units : 0), 0);
}

/** The same reasons with what the store tells about their causes. */
export const withCauses = (reasons: readonly Reason[], view: WaitView): Reason[] =>
  reasons.map((reason) => withCause(reason, view));

/** Who or what makes it so: the holders of a full gate, or the limit of 0 of a paused one that has another to go back to. */
function withCause(reason: Reason, view: WaitView): Reason {
  if (reason.kind === "paused") {
    const { limit, paused, declared } = view.gates.find(({ key }) => key === reason.gate) ?? {};
    return limit === 0 && !paused && declared ? { ...reason, zero: true } : reason;
  }
  if (reason.kind === "unset") {
    const { declared = null } =
      view.gates.find(({ key }) => key === (familyOf(reason.gate) ?? reason.gate)) ?? {};
    return declared === null ? { ...reason, undeclared: true } : reason;
  }
  if (reason.kind !== "full") return reason;
  const slots = new Map(
    view.usage.map((row) => [
      row.lane,
      asksOf(row.asks).find(({ gate }) => gate === reason.gate)?.slots ?? 0,
    ]),
  );
  const holders = view.holders.flatMap((row): Holder[] => {
    const taken = slots.get(row.lane) ?? 0;
    if (taken === 0) return [];
    const { id: unit, name, session, since, stopping } = row;
    return [{ unit, name, slots: taken, session, since, ...(stopping ? { stopping } : {}) }];
  });
  const { perValue, declared } = view.gates.find(({ key }) => key === reason.gate) ?? {};
  // Worth a word only where the gate has a limit of its own beside it.
  return { ...reason, holders, ...(perValue && declared != null ? { perValue } : {}) };
}

/** What somebody damaged tells nothing. */
function gatesIn(data: string | null): string[] {
  try {
    const gates: unknown = JSON.parse(data ?? "[]");
    return Array.isArray(gates) ? gates.map(String) : [];
  } catch {
    return [];
  }
}

/** A unit's own history is the part of its lane's that falls into its wait. */
export function waitsOf(laneEvents: readonly EventRow[], from: number, until: number): Wait[] {
  const changes = laneEvents.filter(({ kind }) => kind === "LaneWaiting");
  return changes.flatMap((event, index): Wait[] => {
    const gates = gatesIn(event.data);
    const start = Math.max(from, event.at);
    const end = Math.min(until, changes[index + 1]?.at ?? until);
    return gates.length > 0 && end > start ? [{ gates, fromMs: start, forMs: end - start }] : [];
  });
}
