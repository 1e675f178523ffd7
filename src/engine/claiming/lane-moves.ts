/**
 * What a pass leaves on the lanes it looked at: what they wait for, who was overtaken, and whether they stay in
 * sight. A lane parks only when there are so many that the blocked ones would hide those that could move.
 */
import type { Plan } from "../../core/gate/admit.ts";
import { isWholeLine } from "../../core/gate/kind.ts";
import type { Reason } from "../../core/gate/reason.ts";
import type { LaneMove, LaneRow, Scope, View } from "../../store/store.ts";
import type { Standing } from "./snapshot.ts";

/** Up to so many lanes are simply looked at in every pass. */
export const CROWDED = 48;

interface Outcome {
  readonly view: View;
  readonly scope: Scope;
  readonly plan: Plan;
  readonly standing: readonly Standing[];
  readonly unread: readonly LaneRow[];
  /** Units that left the line in this pass. */
  readonly gone: ReadonlySet<string>;
  /** Correct the heads of lanes that flow, too. */
  readonly rehead: boolean;
}

export function laneMoves(outcome: Outcome): LaneMove[] {
  const { view, standing, unread } = outcome;
  const crowded = view.beyond.length + view.lanes.length > CROWDED;
  const moves = standing.flatMap((each) => moveOf(each, outcome, crowded));
  // A parked lane that could not be read is opened, so that the next pass locks what it needs.
  const reopened = unread
    .filter(({ state }) => state === "parked")
    .map((lane): LaneMove => ({ ...kept(lane), state: "open", parked: null }));
  return [...moves, ...reopened];
}

function moveOf(
  { lane, units, cut }: Standing,
  { plan, gone, scope, rehead }: Outcome,
  crowded: boolean,
): LaneMove[] {
  const first = units.find(({ id }) => !gone.has(id));
  const reasons = first && plan.waiting.get(first.id);
  const blocking = keysOf(reasons ?? []);
  const undecided = first !== undefined && reasons === undefined;
  const parkOn = crowded || lane.state === "parked" ? blocking.find((key) => !isWholeLine(key)) : undefined;
  const blocked = undecided ? lane.blocked : JSON.stringify(blocking);
  const empty = crowded && !cut && !scope.skipLocked ? "idle" : lane.state === "parked" ? "open" : lane.state;
  const state = first ? (parkOn ? "parked" : "open") : empty;
  const mark =
    (first && (plan.marks.get(lane.id) ?? (lane.mark?.unit === first.id ? lane.mark : null))) ?? null;
  const known = first && !scope.skipLocked && (crowded || rehead || state !== lane.state);
  const head = known ? { priority: first.priority, at: first.at, id: first.id } : null;
  const next: LaneMove = {
    lane: lane.id,
    stamp: lane.stamp,
    state,
    parked: parkOn ?? null,
    mark,
    blocked,
    head,
  };
  return isSame(lane, next) ? [] : [next];
}

const kept = (lane: LaneRow): LaneMove => ({
  lane: lane.id,
  stamp: lane.stamp,
  state: lane.state,
  parked: lane.parked,
  mark: lane.mark,
  blocked: lane.blocked,
  head: null,
});

function isSame(lane: LaneRow, move: LaneMove): boolean {
  const sameMark = lane.mark?.unit === move.mark?.unit && lane.mark?.passed === move.mark?.passed;
  const sameHead = move.head === null || move.head.id === lane.head.id;
  return (
    lane.state === move.state &&
    lane.parked === move.parked &&
    lane.blocked === move.blocked &&
    sameMark &&
    sameHead
  );
}

function keysOf(reasons: readonly Reason[]): string[] {
  const keys = reasons.flatMap((reason) => ("gate" in reason ? [reason.gate] : []));
  return [...new Set(keys)].sort();
}
