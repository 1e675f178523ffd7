/**
 * The changes that a pass writes to the lanes it looked at: the gates they wait for, their marks, and whether
 * they stay in sight. A lane parks only if there are so many lanes that the blocked ones would hide others
 * that could move.
 */
import type { Plan } from "../../core/gate/admit.ts";
import { blockingKeys } from "../../core/gate/blocking.ts";
import type { Gate, Line } from "../../core/gate/gate.ts";
import { bounded, lineOf } from "../../core/gate/gate.ts";
import { isWholeLine } from "../../core/gate/kind.ts";
import { compare } from "../../core/gate/order.ts";
import type { GateReason, Reason } from "../../core/gate/reason.ts";
import { isOfLocks } from "../../core/lock/request.ts";
import { asksOf } from "../../store/lane.ts";
import { parkedSlots, slotsAt } from "../../store/parked.ts";
import type { GateRow, LaneMove, LaneRow, Scope, View } from "../../store/store.ts";
import type { Standing } from "./snapshot.ts";
import { placeOf } from "./snapshot.ts";

/** Up to this many lanes, every pass looks at all of them. */
export const CROWDED = 48;
/** The most lanes with places at several gates that stay in sight. */
const MOST_FRONTS = 16;

interface Outcome {
  readonly view: View;
  readonly scope: Scope;
  readonly plan: Plan;
  readonly standing: readonly Standing[];
  /** Units that left the line in this pass. */
  readonly gone: ReadonlySet<string>;
  /** Also correct the heads of lanes that flow. */
  readonly rehead: boolean;
}

export function laneMoves(outcome: Outcome): LaneMove[] {
  const parking = new Parking(outcome);
  const inOrder = [...outcome.standing].sort((a, b) => compare(placeOf(a.lane), placeOf(b.lane)));
  return inOrder.flatMap((each) => moveOf(each, outcome, parking));
}

function moveOf(
  { lane, units, cut }: Standing,
  { plan, gone, scope, rehead }: Outcome,
  parking: Parking,
): LaneMove[] {
  const first = units.find(({ id }) => !gone.has(id));
  const reasons = first && plan.waiting.get(first.id);
  const undecided = first !== undefined && reasons === undefined;
  const parkOn = first && (undecided ? parking.stays(lane) : parking.gateFor(lane, reasons ?? []));
  const ofLocks = isOfLocks(lane.queue);
  // Lanes of requests have no history. It would grow with every use of a lock.
  const isSilent = undecided || ofLocks;
  const blocked = isSilent ? lane.blocked : JSON.stringify(parking.blocking(lane, reasons ?? []));
  // While others wait for the lock, its next user will be here soon.
  const isDeserted = ofLocks && !parking.isContended(lane);
  const rests = parking.isCrowded || lane.state === "parked" || isDeserted;
  const isEmpty = rests && !cut && !scope.sideBySide;
  const empty = isEmpty ? "idle" : lane.state === "parked" ? "open" : lane.state;
  const state = first ? (parkOn ? "parked" : "open") : empty;
  const mark =
    (first && (plan.marks.get(lane.id) ?? (lane.mark?.unit === first.id ? lane.mark : null))) ?? null;
  const known = first && !scope.sideBySide && (parking.isCrowded || rehead || state !== lane.state);
  const head = known ? { priority: first.priority, at: first.at, id: first.id } : null;
  const next: LaneMove = {
    lane: lane.id,
    stamp: lane.stamp,
    state,
    parked: parkOn ?? null,
    ...(parkOn ? { slots: parkedSlots(lane, parkOn) } : {}),
    mark,
    blocked,
    head,
  };
  return isSame(lane, next) ? [] : [next];
}

/**
 * Decides where lanes park. A parked lane is shown only if its gate has room, so a lane whose place at
 * another gate matters does not park.
 */
class Parking {
  readonly isCrowded: boolean;
  readonly #plan: Plan;
  readonly #gates: ReadonlyMap<string, GateRow>;
  readonly #hasSeveralQueues: boolean;
  /** The lanes with units that stay in line. */
  readonly #inLine: readonly LaneRow[];
  #fronts = 0;

  constructor({ view, plan, standing, gone }: Outcome) {
    this.isCrowded = view.beyond.length + view.lanes.length > CROWDED;
    this.#plan = plan;
    this.#gates = new Map(view.gates.map((gate) => [gate.key, gate]));
    this.#inLine = standing.flatMap(({ lane, units }) =>
      units.some(({ id }) => !gone.has(id)) ? [lane] : [],
    );
    this.#hasSeveralQueues = new Set([...view.lanes, ...view.beyond].map(({ queue }) => queue)).size > 1;
  }

  /** Units of other lanes wait at one of its gates. */
  isContended({ id, asks }: LaneRow): boolean {
    const own = new Set(asksOf(asks).map(({ gate }) => gate));
    return this.#inLine.some(
      (other) => other.id !== id && asksOf(other.asks).some(({ gate }) => own.has(gate)),
    );
  }

  /** The keys under which the wait of the lane is recorded. */
  blocking(lane: LaneRow, reasons: readonly Reason[]): string[] {
    const gateOf = (key: string): Gate | undefined => {
      const row = this.#gates.get(key);
      return row && { ...row, held: this.#plan.held.get(key) ?? 0 };
    };
    return blockingKeys(reasons, gateOf, (key) => slotsAt(lane, key));
  }

  /** The gate on which the lane parks. Undefined if the lane stays in sight. */
  gateFor(lane: LaneRow, reasons: readonly Reason[]): string | undefined {
    if (!this.isCrowded && lane.state !== "parked") return undefined;
    const at = reasons.filter(
      (reason) => "gate" in reason && this.#parksOn(reason.gate) && this.#isReal(lane, reason),
    ) as GateReason[];
    const isNear = reasons.some((reason) => "gate" in reason && this.#parksOn(reason.gate));
    if (at.length === 0 && isNear) return this.stays(lane);
    const out = at.filter(({ gate, kind }) => !STANDING.has(kind) || this.#lineAt(lane, gate) === "skip");
    // A unit that waits at a cap has no place in the line of a lock, so no decision at the lock needs it.
    if (out.length > 0) return keep(lane, out);
    if (at.length === 0 || this.#isFront(lane)) return undefined;
    const full = at.filter(({ kind }) => kind === "full");
    return keep(lane, full.length > 0 ? full : at);
  }

  /** A lane does not park on a gate whose free slots were only left to other workers: they may not take them. */
  #isReal(lane: LaneRow, { kind, gate }: GateReason): boolean {
    return kind !== "full" || (this.#plan.free.get(gate) ?? 0) < slotsAt(lane, gate);
  }

  /**
   * For a lane that does not wait or was not decided. It stays parked while its gate has no room for it. Once
   * the gate has room, nothing would wake the lane there, so it comes into sight.
   */
  stays(lane: LaneRow): string | undefined {
    if (lane.state !== "parked" || lane.parked === null) return undefined;
    return (this.#plan.free.get(lane.parked) ?? 0) < slotsAt(lane, lane.parked) ? lane.parked : undefined;
  }

  /** Some gates are asked for by every unit of a line. Parking on such a gate helps only the units of other queues. */
  #parksOn(key: string): boolean {
    return !isWholeLine(key) || (this.#hasSeveralQueues && key.startsWith("queue:"));
  }

  /** The line in which units of the lane wait for the gate. */
  #lineAt({ asks }: LaneRow, gate: string): Line | undefined {
    const [row, ask] = [this.#gates.get(gate), asksOf(asks).find((each) => each.gate === gate)];
    return row && lineOf(ask ?? {}, row);
  }

  /** True if the lane keeps a place at more than one gate and is among the first that do. */
  #isFront({ asks }: LaneRow): boolean {
    const lines = asksOf(asks).filter((ask) => {
      const row = this.#gates.get(ask.gate);
      return row !== undefined && lineOf(ask, row) === "strict" && bounded(row);
    });
    if (lines.length < 2) return false;
    this.#fronts += 1;
    return this.#fronts <= MOST_FRONTS;
  }
}

/** A unit that waits for one of these keeps its place in the lines of locks and pools. */
const STANDING: ReadonlySet<Reason["kind"]> = new Set(["full", "behind"]);

/** The gate that the lane is already parked on, or else the first by name. */
function keep({ parked }: LaneRow, hurdles: readonly GateReason[]): string | undefined {
  const keys = keysOf(hurdles);
  return parked !== null && keys.includes(parked) ? parked : keys[0];
}

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
