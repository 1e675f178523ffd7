/**
 * The decision of one pass. It makes a picture of what was seen (`picture.ts`), asks `admit` for the plan,
 * chooses what this claimer takes (`choice.ts`), and returns the moves that record it. It is pure: all its
 * input is in the view, all its output is in the moves.
 */
import type { Plan, Waiter } from "../../core/gate/admit.ts";
import { admit } from "../../core/gate/admit.ts";
import type { Ask } from "../../core/gate/gate.ts";
import { isOfLocks } from "../../core/lock/request.ts";
import type { LaneRow, Moves, Scope, View } from "../../store/store.ts";
import { isRunQueue } from "../../store/store.ts";
import type { Choice } from "./choice.ts";
import { choose } from "./choice.ts";
import type { Report, Seat } from "./claims.ts";
import { laneMoves } from "./lane-moves.ts";
import { againOf, nextOf } from "./next.ts";
import type { Picture } from "./picture.ts";
import { pictureOf } from "./picture.ts";
import { newsOf, recoveries } from "./recovery.ts";

export interface Decision {
  readonly moves: Moves;
  readonly plan: Plan;
  /** This claimer could take more than it was shown. */
  readonly more: boolean;
  readonly yielded: boolean;
  /** This claimer now has no more than its fair part of gates that bind. */
  readonly fair: boolean;
  /** Units that another worker could start now. */
  readonly forOthers: readonly string[];
  /** This session is not among the live ones. */
  readonly ended: boolean;
  /** Lanes that could not be decided because their gates were not locked. */
  readonly unread: readonly LaneRow[];
  /** Lanes parked on a gate that still has room for them. The next pass locks the gates they need. */
  readonly next: readonly LaneRow[];
  /** Gates whose parked lanes deserve another look. */
  readonly again: readonly string[];
}

export function decide(seen: View, scope: Scope, seat: Seat, report: Report, rehead = false): Decision {
  const picture = pictureOf(seen, scope, seat, report);
  const { view, standing, unread, snapshot } = picture;
  const plan = admit(snapshot);
  const choice = choose(picture, plan, scope, seat, report);
  const { take } = choice;
  const settled = { ...plan, free: freeAfter(plan, take) };
  const handed = handedOver(picture, plan);
  const taken = [...choice.now, ...handed].map(({ id }) => id);
  const gone = new Set([...taken, ...choice.ahead, ...picture.expire]);
  const lanes = laneMoves({ view, scope, plan: settled, standing, rehead, gone });
  const moves: Moves = { ...unitMoves(picture, choice, handed, seat), lanes };
  const outcome = { view, standing, plan: settled, gone, moves: lanes };
  return {
    moves,
    plan,
    more: hasRoom(picture, plan) && (take >= report.appetite || isUnfinished(picture, plan, moves)),
    yielded: take < plan.admitted.length || plan.postponed,
    fair: choice.fair,
    forOthers: [...plan.admitted.slice(take), ...plan.left].flatMap(({ id }) => (gone.has(id) ? [] : [id])),
    ended: snapshot.me < 0,
    unread,
    next: nextOf(outcome),
    again: againOf(outcome),
  };
}

/** A lock that another process has asked for, and the session of that process. */
interface Handed {
  readonly id: string;
  readonly session: string;
}

/**
 * A request for a lock can start in one process only, so whoever sees that its turn has come hands the lock over.
 * No other unit loses a worker's slot by it.
 */
function handedOver({ snapshot: { workers, me } }: Picture, { left }: Plan): Handed[] {
  return left.flatMap(({ id, queue, workers: serving = [] }): Handed[] => {
    const owner = isOfLocks(queue) ? serving.findLast((worker) => worker !== me) : undefined;
    const session = owner === undefined ? undefined : workers[owner]?.id;
    return session === undefined ? [] : [{ id, session }];
  });
}

function unitMoves(
  picture: Picture,
  { now, start, ahead }: Choice,
  handed: readonly Handed[],
  seat: Seat,
): Omit<Moves, "lanes"> {
  const { view, expire, snapshot } = picture;
  const leases = leasesOf(view, snapshot.line);
  const recover = recoveries(view);
  return {
    claim: [
      ...now.map(({ id }) => ({ id, held: true, leaseMs: leases.get(id) ?? null })),
      ...ahead.map((id) => ({ id, held: false, leaseMs: leases.get(id) ?? null })),
      ...handed.map(({ id, session }) => ({ id, held: true, leaseMs: leases.get(id) ?? null, session })),
    ],
    claimLeaseMs: seat.claimLeaseMs,
    start,
    expire,
    news: [
      ...now.flatMap(({ id, queue }) => (isRunQueue(queue) ? [{ run: id, failed: null }] : [])),
      ...newsOf(view, recover),
    ],
    recover,
  };
}

/** True if we have slots left after starting everything that was admitted. */
function hasRoom({ snapshot: { workers, me } }: Picture, plan: Plan): boolean {
  const mine = workers[me];
  return mine !== undefined && mine.slots > mine.used + plan.admitted.length;
}

/** Another pass may find units that this one was not shown or could not decide. */
function isUnfinished({ view, unread }: Picture, plan: Plan, { recover, expire }: Moves): boolean {
  return plan.more || view.beyond.length > 0 || recover.length > 0 || expire.length > 0 || unread.length > 0;
}

/**
 * Units that the claimer leaves to others are not taken yet, and may never be, so their slots count as free.
 */
function freeAfter(plan: Plan, take: number): Map<string, number> {
  const free = new Map(plan.free);
  for (const { asks } of plan.admitted.slice(take))
    for (const { gate, slots } of asks) free.set(gate, (free.get(gate) ?? 0) + slots);
  return free;
}

/** The shortest lease among the gates that each unit asks. Units without one are not listed. */
function leasesOf(view: View, line: readonly Waiter[]): Map<string, number> {
  const leased = new Map(
    view.gates.flatMap(({ key, leaseMs }) => (leaseMs === null ? [] : [[key, leaseMs] as const])),
  );
  const leases = new Map<string, number>();
  if (leased.size === 0) return leases;
  // The units of one lane share one array of asks.
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
