/**
 * Finds why a unit waits now, and which gates it waited for before. It applies the same `admit` as the pass
 * to the rows of the store.
 */
import type { Plan, Snapshot, Waiter } from "../../core/gate/admit.ts";
import { admit } from "../../core/gate/admit.ts";
import { explain } from "../../core/gate/explain.ts";
import { UNLIMITED } from "../../core/gate/gate.ts";
import type { Rival } from "../../core/gate/in-turn.ts";
import { inTurn } from "../../core/gate/in-turn.ts";
import { familyOf } from "../../core/gate/key.ts";
import { compare } from "../../core/gate/order.ts";
import type { Holder, Reason } from "../../core/gate/reason.ts";
import { shownName } from "../../core/lock/request.ts";
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

/**
 * The obstacles between a unit and its start. With all of them gone it starts; with one of them left it does
 * not.
 */
export function reasonsOf(view: WaitView): readonly Reason[] {
  const { task } = view;
  if (task.state !== "waiting" && task.state !== "claimed" && task.state !== "later") return [];
  if (view.aside && task.state === "waiting") return [asideReason(view.aside)];
  const me = unitOf(view);
  const snapshot = snapshotOf(view, me);
  const ordered = inTurn(snapshot, me.id, explain(snapshot, me.id), rivalsOf(view));
  const reasons = ordered.map((reason) =>
    reason.kind === "busy" ? { ...reason, ahead: aheadAtWorkers(view, me, admit(snapshot)) } : reason,
  );
  return [...untilItsTime(view), ...withCauses(reasons, view).map((reason) => withApps(reason, view))];
}

const rivalsOf = ({ rivals, sessions }: WaitView): Rival[] =>
  rivals.map((lane) => ({ asks: asksOf(lane.asks), workers: attending(sessions, lane) }));

/** Adds the apps whose worker is missing. */
function withApps(reason: Reason, { apps }: WaitView): Reason {
  if (reason.kind !== "noWorker") return reason;
  const having = apps.filter(({ tasks }) => tasks.includes(reason.name)).map(({ app }) => app);
  return having.length === 0 ? reason : { ...reason, apps: having };
}

/** The obstacles at this moment, not those that would appear once these are gone. */
export function hurdlesOf(view: WaitView): readonly Reason[] {
  const me = unitOf(view);
  return admit(snapshotOf(view, me)).waiting.get(me.id) ?? [];
}

function untilItsTime({ task, now }: WaitView): Reason[] {
  if (task.state !== "later" || task.at <= now) return [];
  return [{ kind: "later", at: task.at, because: task.attempt > 0 ? "retry" : "delay" }];
}

/** By the end of a delay, units ahead may have been overtaken for so long that they reserve. */
const momentOf = ({ task, now }: WaitView): number => (task.state === "later" ? Math.max(now, task.at) : now);

function snapshotOf(view: WaitView, me: Waiter): Snapshot {
  const others = waitersOf(standingOf(view), view.sessions, attending);
  return {
    now: momentOf(view),
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
    // Only the session that has claimed it can start it.
    workers: state === "claimed" ? workers.filter((index) => view.sessions[index]?.id === session) : workers,
    ahead: view.aheadAt,
  };
}

/** The first units of the lanes that compete with it, without expired ones. */
function standingOf({ lanes, heads, now }: WaitView) {
  const units = new Map<string, HeadRow[]>(lanes.map(({ id }) => [id, []]));
  for (const head of heads) {
    if (head.goodUntil === null || head.goodUntil > now) units.get(head.lane)?.push(head);
  }
  return lanes.map((lane) => ({ lane, units: units.get(lane.id) ?? [], cut: false }));
}

/**
 * Counts units ahead in lanes that wait only for the same workers. The head of a lane decides, because all
 * units of a lane wait for the same gates.
 */
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

/** Adds the causes of the reasons, as far as the store knows them. */
export const withCauses = (
  reasons: readonly Reason[],
  view: Pick<WaitView, "gates" | "usage" | "holders">,
): Reason[] => eachGateOnce(reasons.map((reason) => withCause(modest(reason), view)));

/**
 * Two values can be paused by the limit of 0 of one family. The family is named once, for the value that needs
 * more, and in the place of the later one.
 */
function eachGateOnce(reasons: readonly Reason[]): Reason[] {
  const isZero = (reason: Reason): reason is Paused =>
    reason.kind === "paused" && (reason.zero === true || reason.room !== undefined);
  const same = (reason: Paused): Paused[] =>
    reasons.filter((other): other is Paused => isZero(other) && other.gate === reason.gate);
  return reasons.flatMap((reason): Reason[] => {
    if (!isZero(reason)) return [reason];
    const alike = same(reason);
    if (alike.at(-1) !== reason) return [];
    const rooms = alike.flatMap(({ room }) => room ?? []);
    const { zero: _, room: __, ...rest } = reason;
    return [rooms.length > 0 ? { ...rest, room: Math.max(...rooms) } : { ...rest, zero: true }];
  });
}

type Paused = Extract<Reason, { kind: "paused" }>;

/** If more units than this are ahead, only time helps. A limit that lets all of them start is not worth suggesting. */
const MANY = 100;

function modest(reason: Reason): Reason {
  if (reason.kind !== "full" || reason.room === undefined || reason.ahead <= MANY) return reason;
  const { room: _, ...rest } = reason;
  return rest;
}

/**
 * A limit of 0 can be reset if an app has declared another limit and that one has room. A value without a
 * limit of its own is paused by its family's, so the family is named.
 */
function zeroCause(reason: Paused, gates: readonly GateInfo[]): Reason {
  const { room = 1, zero: _, ...rest } = reason;
  const own = gates.find(({ key }) => key === reason.gate);
  const family = gates.find(({ key }) => key === familyOf(reason.gate));
  const isInherited = family?.limit === 0 && own?.declared === null && own.setBy === null;
  const { key: gate, declared } = (isInherited ? family : own) ?? { key: reason.gate, declared: null };
  const isEnough = declared === UNLIMITED || (declared ?? 0) >= room;
  return isEnough && declared ? { ...rest, gate, zero: true } : { ...rest, gate, room };
}

/** Adds the cause: the holders of a full gate, or the limit of 0 of a paused one. */
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
    return [{ unit, name: shownName(name), slots: taken, session, since, ...(stopping ? { stopping } : {}) }];
  });
  const { perValue, declared } = view.gates.find(({ key }) => key === reason.gate) ?? {};
  // Worth mentioning only if the gate also has its own limit.
  return { ...reason, holders, ...(perValue && declared != null ? { perValue } : {}) };
}

/** Damaged data yields no gates. */
function gatesIn(data: string | null): string[] {
  try {
    const gates: unknown = JSON.parse(data ?? "[]");
    return Array.isArray(gates) ? gates.map(String) : [];
  } catch {
    return [];
  }
}

/** A unit's own history is the part of its lane's history that falls into its wait. */
export function waitsOf(laneEvents: readonly EventRow[], from: number, until: number): Wait[] {
  const changes = laneEvents.filter(({ kind }) => kind === "LaneWaiting");
  return changes.flatMap((event, index): Wait[] => {
    const gates = gatesIn(event.data);
    const start = Math.max(from, event.at);
    const end = Math.min(until, changes[index + 1]?.at ?? until);
    return gates.length > 0 && end > start ? [{ gates, fromMs: start, forMs: end - start }] : [];
  });
}

/** The waits of each stay in line. Between two stays the unit was running or delayed. */
export const waitsIn = (laneEvents: readonly EventRow[], stays: readonly Stay[], now: number): Wait[] =>
  stays.flatMap(({ from, until }) => waitsOf(laneEvents, from, until ?? now));
