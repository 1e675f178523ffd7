/**
 * The decision of one pass: builds the snapshot, asks `admit`, and turns the plan into moves. Pure: everything it
 * knows is in the view, everything it wants is in the moves.
 */
import type { Plan, Waiter } from "../../core/gate/admit.ts";
import { admit } from "../../core/gate/admit.ts";
import { ClaimBudget } from "../../core/gate/claim-budget.ts";
import type { Ask, Gate } from "../../core/gate/gate.ts";
import { obstacle } from "../../core/gate/gate.ts";
import { inOrder } from "../../core/gate/order.ts";
import { fairTake } from "../../core/gate/share.ts";
import type { Worker } from "../../core/gate/workers.ts";
import { asksOf } from "../../store/lane.ts";
import type { HeadRow, LaneRow, Moves, Scope, Usage, View } from "../../store/store.ts";
import { RUNS } from "../../store/store.ts";
import type { Report, Seat } from "./claims.ts";
import { laneMoves } from "./lane-moves.ts";
import { againOf, nextOf } from "./next.ts";
import { newsOf, recoveries } from "./recovery.ts";
import { doesServe } from "./serving.ts";
import { MOST_FOREIGN } from "./sight.ts";
import type { Standing } from "./snapshot.ts";
import { gatesOf, hiddenFrom, horizonOf, isReadable, waitersOf, workersOf } from "./snapshot.ts";

export interface Decision {
  readonly moves: Moves;
  readonly plan: Plan;
  /** This claimer could take more than it was shown. */
  readonly more: boolean;
  readonly yielded: boolean;
  /** Units that somebody else could start now. */
  readonly forOthers: readonly string[];
  /** This session is not among the living. */
  readonly ended: boolean;
  /** Lanes that could not be decided because their gates were not locked. */
  readonly unread: readonly LaneRow[];
  /** Lanes parked on a gate that still has room for them: the next pass locks what they need. */
  readonly next: readonly LaneRow[];
  /** Gates whose parked lanes are worth another look. */
  readonly again: readonly string[];
}

export function decide(seen: View, scope: Scope, seat: Seat, report: Report, rehead = false): Decision {
  const view = withoutAside(seen);
  const me = view.sessions.findIndex(({ id }) => id === scope.session);
  const gates = new Map(view.gates.map((gate) => [gate.key, gate]));
  const locked = new Set([...scope.exclusive, ...scope.shared]);
  const unread = view.lanes.filter((lane) => lane.state !== "idle" && !isReadable(lane, gates, locked));
  const { standing, expire } = stand(view, scope, new Set(unread.map(({ id }) => id)));
  const workers = workersOf(view.sessions, view.usage).map((worker, index) =>
    index === me
      ? {
          ...worker,
          slots: report.draining ? 0 : seat.slots,
          used: report.active,
          appetite: report.appetite,
          claims: { inAll: report.claims, perQueue: seat.claimBatch },
        }
      : worker,
  );
  const line = [...waitersOf(standing, view.sessions), ...prefetchedWaiters(view, standing, me)];
  const doors = withHidden(gatesOf(view.gates, view.usage), view);
  const plan = admit({
    now: view.now,
    gates: doors,
    line,
    workers,
    me,
    // What lies beyond is served in its turn; lanes that nobody waits in hold nobody up.
    horizon: horizonOf([
      ...unread.filter((lane) => view.heads.some((head) => head.lane === lane.id)),
      ...beyondOf(view, me),
    ]),
  });
  const scarce = isScarce(plan, line, doors);
  const take = taken(plan, workers, me, report.ownTurn || !scarce);
  const mine = workers[me];
  const hasRoom = mine !== undefined && mine.slots > mine.used + plan.admitted.length;
  const prefetched = new Map(view.prefetched.map((row) => [row.id, row.epoch]));
  const now = plan.admitted.slice(0, take);
  const claimNow = now.filter(({ id }) => !prefetched.has(id));
  const start = now.flatMap(({ id }) =>
    prefetched.has(id) ? [{ id, epoch: prefetched.get(id) as number }] : [],
  );
  const further = seat.prefetch - claimedAhead(view.usage, scope.session) + start.length;
  const budget = new ClaimBudget({ inAll: report.claims, perQueue: seat.claimBatch });
  for (const { queue = "" } of claimNow) budget.spend(queue);
  const ahead = me < 0 || report.draining ? [] : aheadOfTime(plan, line, new Set(now), further, budget, me);
  const leases = leasesOf(view, line);
  const recover = recoveries(view);
  const settled = { ...plan, free: freeAfter(plan, take) };
  const gone = new Set([...claimNow.map(({ id }) => id), ...ahead, ...expire]);
  const moves: Moves = {
    claim: [
      ...claimNow.map(({ id }) => ({ id, held: true, leaseMs: leases.get(id) ?? null })),
      ...ahead.map((id) => ({ id, held: false, leaseMs: leases.get(id) ?? null })),
    ],
    claimLeaseMs: seat.claimLeaseMs,
    start,
    expire,
    news: [
      ...claimNow.flatMap(({ id, queue }) => (queue === RUNS ? [{ run: id, failed: null }] : [])),
      ...newsOf(view, recover),
    ],
    recover,
    lanes: laneMoves({
      view,
      scope,
      plan: settled,
      standing,
      rehead,
      gone,
    }),
  };
  const outcome = { view, standing, plan: settled, gone, moves: moves.lanes };
  return {
    moves,
    plan,
    more:
      hasRoom &&
      (plan.more ||
        take >= report.appetite ||
        view.beyond.length > 0 ||
        moves.recover.length > 0 ||
        moves.expire.length > 0 ||
        unread.length > 0),
    yielded: take < plan.admitted.length || plan.postponed,
    forOthers: [...plan.admitted.slice(take), ...plan.left].map(({ id }) => id),
    ended: me < 0,
    unread,
    next: nextOf(outcome),
    again: againOf(outcome),
  };
}

/** A lane that somebody has set aside while we had it in sight. */
function withoutAside(view: View): View {
  if (view.lanes.every(({ state }) => state !== "aside")) return view;
  const lanes = view.lanes.filter(({ state }) => state !== "aside");
  const ids = new Set(lanes.map(({ id }) => id));
  return { ...view, lanes, heads: view.heads.filter(({ lane }) => ids.has(lane)) };
}

/** What the claimer leaves to others is not taken yet, and may never be. */
function freeAfter(plan: Plan, take: number): Map<string, number> {
  const free = new Map(plan.free);
  for (const { asks } of plan.admitted.slice(take))
    for (const { gate, slots } of asks) free.set(gate, (free.get(gate) ?? 0) + slots);
  return free;
}

function withHidden(gates: readonly Gate[], view: View): Gate[] {
  const hidden = hiddenFrom(view, gates);
  return gates.map((gate) => ({ ...gate, hidden: hidden.get(gate.key) }));
}

/** Where very many lanes of others are about, the first of them speak for all: they must not keep us from our own. */
function beyondOf({ lanes, beyond, sessions }: View, me: number): readonly LaneRow[] {
  const isOurs = (lane: LaneRow): boolean => doesServe(sessions[me]?.serves ?? "{}", lane);
  if (me < 0 || lanes.filter((lane) => !isOurs(lane)).length < MOST_FOREIGN) return beyond;
  return beyond.filter(isOurs);
}

/** The units of each lane, without those whose time is over. */
function stand(
  view: View,
  scope: Scope,
  unread: ReadonlySet<string>,
): { standing: Standing[]; expire: string[] } {
  const want = new Map(scope.lanes.map(({ id, want: count }) => [id, count]));
  const heads = new Map<string, HeadRow[]>();
  for (const head of view.heads) {
    const list = heads.get(head.lane);
    if (list) list.push(head);
    else heads.set(head.lane, [head]);
  }
  const expire: string[] = [];
  const standing = view.lanes.flatMap((lane): Standing[] => {
    if (unread.has(lane.id)) return [];
    const all = heads.get(lane.id) ?? [];
    const units = all.filter(({ id, goodUntil }) => {
      const over = goodUntil !== null && goodUntil <= view.now;
      if (over) expire.push(id);
      return !over;
    });
    return [{ lane, units, cut: all.length >= (want.get(lane.id) ?? 2) }];
  });
  return { standing, expire };
}

/** The shortest lease among the gates that a unit asks, by unit; those without one are not listed. */
function leasesOf(view: View, line: readonly Waiter[]): Map<string, number> {
  const leased = new Map(
    view.gates.flatMap(({ key, leaseMs }) => (leaseMs === null ? [] : [[key, leaseMs] as const])),
  );
  const leases = new Map<string, number>();
  if (leased.size === 0) return leases;
  // Units of one lane share their asks.
  const shortest = new Map<readonly Ask[], number>();
  for (const { id, asks } of line) {
    let own = shortest.get(asks);
    if (own === undefined) {
      own = Math.min(...asks.map(({ gate }) => leased.get(gate) ?? Number.POSITIVE_INFINITY));
      shortest.set(asks, own);
    }
    if (own !== Number.POSITIVE_INFINITY) leases.set(id, own);
  }
  return leases;
}

/** Our own prefetched claims stand in line for their slots at the place they always had. */
function prefetchedWaiters(view: View, standing: readonly Standing[], me: number): Waiter[] {
  const lanes = new Map(standing.map(({ lane }) => [lane.id, lane]));
  return view.prefetched.flatMap((row): Waiter[] => {
    const lane = lanes.get(row.lane);
    if (!lane || (row.goodUntil !== null && row.goodUntil <= view.now)) return [];
    const { id, priority, at } = row;
    return [
      {
        id,
        lane: `${lane.id}${CLAIMED}`,
        claimed: true,
        rank: lane.rank,
        priority,
        at,
        asks: asksOf(lane.asks),
        workers: [me],
      },
    ];
  });
}

/** Tells the line of prefetched claims from the lane itself, whose head they no longer are. */
const CLAIMED = "!";

function taken(plan: Plan, workers: readonly Worker[], me: number, all: boolean): number {
  const wanted = plan.admitted.length;
  const mine = workers[me];
  if (!mine || wanted === 0 || all) return wanted;
  const serving = new Set(plan.admitted.flatMap((unit) => unit.workers ?? []));
  const hungry = workers.filter(
    (worker, index) => index !== me && serving.has(index) && worker.slots > worker.used,
  );
  return fairTake({ wanted, left: plan.left.length, me: mine, hungry });
}

/** Somebody waits because gates bind, not because the work or the workers have run out. */
function isScarce(plan: Plan, line: readonly Waiter[], doors: readonly Gate[]): boolean {
  for (const reasons of plan.waiting.values()) {
    if (reasons.some(({ kind }) => kind === "full" || kind === "behind")) return true;
  }
  // The last unit shown of a lane is not decided; whether a gate is full for it can be seen all the same.
  const gates = new Map(doors.map((gate) => [gate.key, gate]));
  const isFull = ({ gate, slots }: Ask): boolean => {
    const door = gates.get(gate);
    return door !== undefined && obstacle(door, plan.held.get(gate) ?? door.held, 0, slots) === "full";
  };
  return line.some(({ frontier, asks }) => frontier && asks.some(isFull));
}

/** Claims of ours that have not started, those included that this look does not show. */
function claimedAhead(usage: readonly Usage[], session: string): number {
  const ours = usage.filter((row) => row.session === session && !row.held && !row.lost);
  return ours.reduce((sum, { units }) => sum + units, 0);
}

/** In soft mode: the next units in order that we could run, claimed before they have their slots. */
function aheadOfTime(
  plan: Plan,
  line: readonly Waiter[],
  now: ReadonlySet<Waiter>,
  further: number,
  budget: ClaimBudget,
  me: number,
): string[] {
  if (further <= 0) return [];
  const mayComeSoon = (unit: Waiter): boolean =>
    (plan.waiting.get(unit.id) ?? []).every(
      ({ kind }) => kind === "full" || kind === "behind" || kind === "busy",
    );
  const ids: string[] = [];
  for (const unit of inOrder(line)) {
    if (ids.length >= further) break;
    if (now.has(unit) || unit.claimed || !unit.workers?.includes(me) || !mayComeSoon(unit)) continue;
    if (!budget.allows(unit.queue ?? "")) continue;
    budget.spend(unit.queue ?? "");
    ids.push(unit.id);
  }
  return ids;
}
