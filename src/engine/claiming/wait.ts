/** Why a unit waits now, and what it waited for before: the same `admit` as in the pass, on what the store shows. */
import type { Plan, Snapshot, Waiter } from "../../core/gate/admit.ts";
import { admit } from "../../core/gate/admit.ts";
import { explain } from "../../core/gate/explain.ts";
import { UNLIMITED } from "../../core/gate/gate.ts";
import { familyOf, pausedWith } from "../../core/gate/key.ts";
import { compare } from "../../core/gate/order.ts";
import type { Holder, Reason } from "../../core/gate/reason.ts";
import type { Stay } from "../../store/in-line.ts";
import { asksOf } from "../../store/lane.ts";
import type { EventRow, GateInfo, HeadRow, LaneRow, WaitView } from "../../store/store.ts";
import { attending } from "./serving.ts";
import { everyGate, waitersOf, workersOf } from "./snapshot.ts";

export interface Wait {
  readonly gates: readonly string[];
  readonly fromMs: number;
  readonly forMs: number;
}

/** Everything that stands between it and its start: without all of it, it starts; without a part of it, it does not. */
export function reasonsOf(view: WaitView): readonly Reason[] {
  const { task } = view;
  if (task.state !== "waiting" && task.state !== "claimed" && task.state !== "later") return [];
  if (view.aside && task.state === "waiting") return [asideReason(view.aside)];
  const me = unitOf(view);
  const snapshot = snapshotOf(view, me);
  const reasons = explain(snapshot, me.id).map((reason) =>
    reason.kind === "busy" ? { ...reason, ahead: aheadAtWorkers(view, me, admit(snapshot)) } : reason,
  );
  return [...untilItsTime(view), ...withCauses(reasons, view).map((reason) => withApps(reason, view))];
}

/** Which app's worker is missing. */
function withApps(reason: Reason, { apps }: WaitView): Reason {
  if (reason.kind !== "noWorker") return reason;
  const having = apps.filter(({ tasks }) => tasks.includes(reason.name)).map(({ app }) => app);
  return having.length === 0 ? reason : { ...reason, apps: having };
}

/** What is in its way at this moment, and not what would be once that is gone. */
export function hurdlesOf(view: WaitView): readonly Reason[] {
  const me = unitOf(view);
  return admit(snapshotOf(view, me)).waiting.get(me.id) ?? [];
}

function untilItsTime({ task, now }: WaitView): Reason[] {
  if (task.state !== "later" || task.at <= now) return [];
  return [{ kind: "later", at: task.at, because: task.attempt > 0 ? "retry" : "delay" }];
}

function snapshotOf(view: WaitView, me: Waiter): Snapshot {
  const others = waitersOf(standingOf(view), view.sessions, attending);
  return {
    now: view.now,
    gates: everyGate(view, [view.task.asks, ...view.lanes.map(({ asks }) => asks)]),
    line: [...others.filter((other) => other.id !== me.id && compare(other, me) < 0), me],
    workers: workersOf(view.sessions, view.usage),
    apps: view.apps,
  };
}

export const asideReason = ({ id, error, at }: NonNullable<WaitView["aside"]>): Reason => ({
  kind: "aside",
  lane: id,
  error,
  at,
});

function unitOf(view: WaitView): Waiter {
  const { id, lane, priority, at, asks, queue, name, state, session } = view.task;
  const mark = view.lanes.find((row) => row.id === lane)?.mark ?? undefined;
  const workers = attending(view.sessions, { queue, task: name });
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
    // Who has claimed it is the one who starts it.
    workers: state === "claimed" ? workers.filter((index) => view.sessions[index]?.id === session) : workers,
    ahead: view.aheadAt,
  };
}

/** The first units of the lanes that compete with it, without those whose time is over. */
function standingOf({ lanes, heads, now }: WaitView) {
  const units = new Map<string, HeadRow[]>(lanes.map(({ id }) => [id, []]));
  for (const head of heads) {
    if (head.goodUntil === null || head.goodUntil > now) units.get(head.lane)?.push(head);
  }
  return lanes.map((lane) => ({ lane, units: units.get(lane.id) ?? [], cut: false }));
}

/** What stands ahead in the lanes that only its own workers keep waiting: their heads tell, the rest wait alike. */
function aheadAtWorkers(view: WaitView, me: Waiter, plan: Plan): number {
  const isHeldBack = (lane: LaneRow): boolean => {
    const head = view.heads.find((row) => row.lane === lane.id && row.id !== me.id);
    return (head && plan.waiting.get(head.id)?.some(({ kind }) => kind !== "busy")) ?? false;
  };
  const shares = (lane: LaneRow): boolean =>
    attending(view.sessions, lane).some((worker) => me.workers?.includes(worker));
  const lanes = new Set(view.lanes.filter((lane) => shares(lane) && !isHeldBack(lane)).map(({ id }) => id));
  return view.ahead.reduce((sum, { lane, units }) => sum + (lanes.has(lane) ? units : 0), 0);
}

/** The same reasons with what the store tells about their causes. */
export const withCauses = (
  reasons: readonly Reason[],
  view: Pick<WaitView, "gates" | "usage" | "holders">,
): Reason[] => reasons.map((reason) => withCause(modest(reason), view));

/** Behind so many it is time that helps. No limit that lets all of them start is worth a word. */
const MANY = 100;

function modest(reason: Reason): Reason {
  if (reason.kind !== "full" || reason.room === undefined || reason.ahead <= MANY) return reason;
  const { room: _, ...rest } = reason;
  return rest;
}

/** A limit of 0 goes back to another one where an app has declared it, and that has room. */
function zeroCause(reason: Extract<Reason, { kind: "paused" }>, gates: readonly GateInfo[]): Reason {
  const { room = 1, zero: _, ...rest } = reason;
  const own = gates.find(({ key }) => key === reason.gate);
  const family = gates.find(({ key }) => key === familyOf(reason.gate));
  const isInherited = family?.limit === 0 && own?.declared === null && own.setBy === null;
  const { key: gate, declared } = (isInherited ? family : own) ?? { key: reason.gate, declared: null };
  const isEnough = declared === UNLIMITED || (declared ?? 0) >= room;
  return isEnough && declared ? { ...rest, gate, zero: true } : { ...rest, room };
}

/** Who or what makes it so: the holders of a full gate, or the limit of 0 of a paused one. */
function withCause(reason: Reason, view: Pick<WaitView, "gates" | "usage" | "holders">): Reason {
  if (reason.kind === "paused") return reason.zero ? zeroCause(reason, view.gates) : reason;
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

/** What it waited for each time it stood in line; between two of them it was at work, or put off. */
export const waitsIn = (laneEvents: readonly EventRow[], stays: readonly Stay[], now: number): Wait[] =>
  stays.flatMap(({ from, until }) => waitsOf(laneEvents, from, until ?? now));

/** A gate without a limit keeps nobody waiting: where one of a run's own did, the run was paused. */
export function namingPauses(waits: readonly Wait[], gates: readonly GateInfo[]): Wait[] {
  const unlimited = new Set(gates.flatMap(({ key, limit }) => (limit === UNLIMITED ? [key] : [])));
  const named = (key: string): string => (unlimited.has(key) ? pausedWith(key) : key);
  return waits.map((wait) => ({ ...wait, gates: [...new Set(wait.gates.map(named))] }));
}
