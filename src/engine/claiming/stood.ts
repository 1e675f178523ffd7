/** The lanes as the last whole pass left them, and what may come next in each of them. */
import { draining, room } from "../../core/gate/gate.ts";
import type { Place } from "../../core/gate/order.ts";
import { compare } from "../../core/gate/order.ts";
import { asksOf } from "../../store/lane.ts";
import type { AheadClaim, GateRule, HeadRow, LaneRow, Scope, SwapLane, View } from "../../store/store.ts";
import type { Answer } from "./claims.ts";
import type { Decision } from "./decide.ts";
import { placeOf } from "./snapshot.ts";

/** A whole pass and what came of it. */
export interface WholePass {
  readonly view: View;
  readonly scope: Scope;
  readonly decision: Decision;
  readonly answer: Pick<Answer, "more" | "claimed">;
}

/** A lane as the last whole pass left it. */
export interface Stood {
  readonly lane: LaneRow;
  /** A lower bound of the place of its first waiting unit. Undefined if no unit waits. */
  first: Place | undefined;
  /** Our claims that were made ahead of their slots, in order. */
  ahead: readonly (AheadClaim & { readonly place: Place })[];
  /** A gate whose rule holds the lane back, whatever is in use. */
  readonly heldBy: string | undefined;
  /** Its finished units may be swapped. */
  readonly open: boolean;
}

/** The next units in line. Undefined if a pass has to decide about them. */
export function nextOfLane(
  one: Stood,
  want: number,
  lanes: ReadonlyMap<string, Stood>,
  watched: Set<string>,
): SwapLane | undefined {
  if (!one.first) return undefined;
  const fence = fenceOf(one, lanes, watched);
  if (fence && compare(one.first, fence) >= 0) return undefined;
  // A place in a queue of another rank is ahead of the whole lane or behind it.
  return { id: one.lane.id, want, from: one.first, before: fence?.rank === one.lane.rank ? fence : null };
}

/**
 * The same for claims made ahead. All of them are known, so they are chosen here. As many must be left, or a pass
 * fills them up first.
 */
export function aheadOf(
  one: Stood,
  want: number,
  lanes: ReadonlyMap<string, Stood>,
  watched: Set<string>,
): AheadClaim[] | undefined {
  const next = one.ahead.slice(0, want);
  const last = next.at(-1);
  if (!last || one.ahead.length < 2 * want) return undefined;
  const fence = fenceOf(one, lanes, watched);
  if ([fence, one.first].some((limit) => limit && compare(last.place, limit) >= 0)) return undefined;
  return next.map(({ id, epoch, lane }) => ({ id, epoch, lane }));
}

/** The place of what comes next in a lane: a claim made ahead, or a unit in line. */
function frontOf({ first, ahead }: Stood): Place | undefined {
  const claim = ahead[0]?.place;
  return claim && (!first || compare(claim, first) < 0) ? claim : first;
}

/**
 * The first place of another lane. A lane that a gate's rule holds back is passed over, and if it comes before
 * that place, the gate is watched.
 */
function fenceOf(one: Stood, lanes: ReadonlyMap<string, Stood>, watched: Set<string>): Place | undefined {
  let fence: Place | undefined;
  for (const other of lanes.values()) {
    const front = other === one || other.heldBy !== undefined ? undefined : frontOf(other);
    if (front && (!fence || compare(front, fence) < 0)) fence = front;
  }
  for (const other of lanes.values()) {
    const front = other === one || other.heldBy === undefined ? undefined : frontOf(other);
    if (front && (!fence || compare(front, fence) < 0)) watched.add(other.heldBy as string);
  }
  return fence;
}

/** All lanes that may have waiting units, or claims made ahead. */
export function stood(seen: WholePass, gates: ReadonlyMap<string, GateRule>): Map<string, Stood> {
  const { view, scope, decision } = seen;
  const wants = new Map(scope.lanes.map(({ id, want }) => [id, want]));
  const gone = new Set([...decision.moves.claim.map(({ id }) => id), ...decision.moves.expire]);
  const states = new Map(decision.moves.lanes.map(({ lane, state }) => [lane, state]));
  const units = new Map<string, HeadRow[]>();
  for (const head of view.heads) {
    const list = units.get(head.lane);
    if (list) list.push(head);
    else units.set(head.lane, [head]);
  }
  const claims = claimsAhead(seen);
  const all = view.lanes.flatMap((lane): Stood[] => {
    const shown = units.get(lane.id) ?? [];
    const left = shown.find(({ id }) => !gone.has(id));
    const isCut = shown.length >= (wants.get(lane.id) ?? 2);
    const shownLeft = left ?? (isCut ? shown.at(-1) : undefined);
    // Units that other claimers have locked were not shown, so the lane may have more than it showed. A claim that
    // was made ahead only has to come before those that were shown, as in a whole pass.
    const spot = scope.sideBySide && scope.prefetching === 0 ? lane.head : shownLeft;
    const ahead = claims.get(lane.id) ?? [];
    if (!spot && ahead.length === 0) return [];
    const first = spot && placeIn(lane, spot);
    const open = (states.get(lane.id) ?? lane.state) === "open" && mayFlow(lane, decision, gates);
    const next = ahead[0]?.id ?? left?.id;
    const heldBy = next && heldByRule(decision, next).find((gate) => gates.has(gate));
    return [{ lane, first, ahead, heldBy, open }];
  });
  const further = view.beyond.map((lane): Stood => {
    return { lane, first: placeOf(lane), ahead: [], heldBy: undefined, open: false };
  });
  return new Map([...further, ...all].map((one) => [one.lane.id, one]));
}

const placeIn = ({ rank }: LaneRow, { priority, at, id }: LaneRow["head"]): Place => ({
  rank,
  priority,
  at,
  id,
});

/** Our claims that wait for their slots after this pass, by lane. */
function claimsAhead({ view, decision, answer }: WholePass): Map<string, Stood["ahead"]> {
  const lanes = new Map(view.lanes.map((lane) => [lane.id, lane]));
  const heads = new Map(view.heads.map((head) => [head.id, head]));
  const begun = new Set(decision.moves.start.map(({ epoch }) => epoch));
  const found = new Map<string, (AheadClaim & { readonly place: Place })[]>();
  const add = (claim: AheadClaim, spot: HeadRow | undefined): void => {
    const lane = lanes.get(claim.lane);
    if (!lane || !spot) return;
    const { id, epoch } = claim;
    const known = found.get(lane.id) ?? [];
    known.push({ id, epoch, lane: lane.id, place: placeIn(lane, spot) });
    found.set(lane.id, known);
  };
  for (const row of view.prefetched) if (!begun.has(row.epoch)) add(row, row);
  for (const claim of answer.claimed) if (!claim.held) add(claim, heads.get(claim.id));
  for (const list of found.values()) list.sort((a, b) => compare(a.place, b.place));
  return found;
}

function mayFlow({ asks }: LaneRow, { plan }: Decision, gates: ReadonlyMap<string, GateRule>): boolean {
  return asksOf(asks).every(({ gate, slots }) => {
    const rule = gates.get(gate);
    if (!rule || room(rule, 0) < slots) return false;
    return !draining({ limit: rule.limit, held: plan.held.get(gate) ?? 0 });
  });
}

/** No free slot ends these waits, only another limit. */
const heldByRule = ({ plan }: Decision, unit: string): string[] =>
  (plan.waiting.get(unit) ?? []).flatMap((reason) =>
    reason.kind === "unset" || reason.kind === "paused" || reason.kind === "never" ? [reason.gate] : [],
  );
