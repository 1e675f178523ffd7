/**
 * The short way through a pass: when a claimer may replace finished units by the next units of their lanes
 * without looking (`src/store/ports/swaps.ts`).
 *
 * Such a swap changes no usage: the new units hold what the old ones held. So no limit can be exceeded, and
 * nothing has to be counted. What remains of the decision is the order, and whether a limit, a pause or other
 * workers want something else. A swap is proposed only if
 *
 * - all reports are plain: the unit has succeeded or failed, its code has ended, and no run waits for it;
 * - each lane was open in the last whole pass, and each of its gates had a limit, no family, was not paused and
 *   not above its limit;
 * - the next units come before every waiting unit of all other lanes that the pass saw. A lane does not count
 *   while a limit or a pause of one of its gates holds it back: then that gate is watched, too;
 * - the pass left nothing to do: no lost claims, no lanes still to look at, nothing left to other workers, and
 *   gates that bind gave this worker no more than its fair part;
 * - that pass is recent: at most `MOST` swaps and `TRUSTED_MS` ago. No hint came since.
 *
 * The store then checks under its locks that all reports are current, the session is alive, the gates have the
 * same rules, the lanes are open, and no lane is parked on their gates. It takes no expired unit. If it claims
 * fewer units than have finished, a whole pass follows in the same exchange. So a wrong guess costs that pass
 * and nothing else.
 */
import { draining, room } from "../../core/gate/gate.ts";
import { familyOf } from "../../core/gate/key.ts";
import type { Place } from "../../core/gate/order.ts";
import { compare } from "../../core/gate/order.ts";
import type { LaneSpec } from "../../store/lane.ts";
import { asksOf } from "../../store/lane.ts";
import type {
  Ended,
  Finished,
  GateRow,
  GateRule,
  HeadRow,
  LaneRow,
  Scope,
  Swap,
  SwapLane,
  Swapped,
  View,
} from "../../store/store.ts";
import type { Answer, Report, Seat } from "./claims.ts";
import type { Decision } from "./decide.ts";
import { placeOf } from "./snapshot.ts";

/** The most swaps between two whole passes. */
const MOST = 15;
/** How long the picture of a whole pass is trusted. */
const TRUSTED_MS = 250;
/** After swaps that claimed too little, at most this many whole passes come before the next one. */
const LONGEST_PAUSE = 16;

/** A lane as the last whole pass left it. */
interface Stood {
  readonly lane: LaneRow;
  /** A lower bound of the place of its first waiting unit. */
  first: Place;
  /** A gate whose rule holds the lane back, whatever is in use. */
  readonly heldBy: string | undefined;
  /** Its finished units may be swapped. */
  readonly open: boolean;
}

interface Seen {
  readonly view: View;
  readonly scope: Scope;
  readonly decision: Decision;
  readonly answer: Pick<Answer, "more">;
}

export class ShortWay {
  readonly #seat: Seat;
  readonly #clock: () => number;
  /** Undefined if the last whole pass allows no swap. */
  #lanes: Map<string, Stood> | undefined;
  #gates = new Map<string, GateRule>();
  #sessions: readonly string[] = [];
  #until = 0;
  #swaps = 0;
  #misses = 0;
  #pause = 0;
  /** Whole passes on their way that follow a hint. */
  #hinted = 0;
  /** How many whole passes have begun, and the last of them that was learned from. */
  #begun = 0;
  #learned = 0;

  constructor(seat: Seat, clock: () => number) {
    this.#seat = seat;
    this.#clock = clock;
  }

  /** Swaps were made since the last whole pass, so lanes have moved on. */
  get wasTaken(): boolean {
    return this.#swaps > 0;
  }

  /** What was seen is not to be trusted any more. */
  forget(): void {
    this.#lanes = undefined;
  }

  /**
   * While a pass that follows a hint is on its way, what an earlier one saw is not to be trusted. The returned
   * function takes what the pass saw, if it was answered.
   */
  passBegins(isHinted: boolean): (seen: Seen | undefined) => void {
    const askedAt = this.#clock();
    this.#begun += 1;
    const number = this.#begun;
    if (isHinted) this.#lanes = undefined;
    this.#hinted += Number(isHinted);
    return (seen) => {
      this.#hinted -= Number(isHinted);
      // A pass that began later knows more. This one can only say that there is something to do.
      if (number < this.#learned) this.#lanes = seen && isAtRest(seen) ? this.#lanes : undefined;
      else if (seen) this.#learn(seen, askedAt, number);
      else this.#lanes = undefined;
    };
  }

  #learn(seen: Seen, askedAt: number, number: number): void {
    const { view, scope, decision } = seen;
    this.#learned = number;
    this.#swaps = 0;
    this.#until = askedAt + TRUSTED_MS;
    this.#lanes = undefined;
    if (this.#pause > 0) this.#pause -= 1;
    else if (this.#seat.prefetch === 0 && isAtRest(seen)) {
      this.#sessions = view.sessions.map(({ id }) => id);
      this.#gates = new Map(view.gates.flatMap((gate) => (isPlain(gate) ? [[gate.key, gate]] : [])));
      this.#lanes = stood(view, scope, decision, this.#gates);
    }
  }

  /** The swap for this report, or undefined if a whole pass has to decide. */
  propose(report: Report, session: string, laneOf: ReadonlyMap<number, LaneSpec>): Swap | undefined {
    const lanes = this.#lanes;
    if (
      !lanes ||
      this.#hinted > 0 ||
      this.#swaps >= MOST ||
      !this.#isUsual(report) ||
      this.#clock() > this.#until
    )
      return undefined;
    const finished = report.finished.filter(isPlainEnd);
    if (finished.length < report.finished.length) return undefined;
    const watched = new Set<string>();
    const wanted = wantedOf(finished, laneOf, lanes, watched);
    return wanted && this.#swapOf({ wanted, finished, started: report.started, session }, lanes, watched);
  }

  #isUsual({ finished, active, appetite, claims, draining: isDraining, hinted }: Report): boolean {
    const { slots, claimBatch } = this.#seat;
    const most = Math.min(appetite, slots - active, claims ?? slots, claimBatch ?? slots);
    return !isDraining && !hinted && finished.length > 0 && finished.length <= most;
  }

  #swapOf(
    given: Pick<Swap, "finished" | "started" | "session"> & { readonly wanted: readonly SwapLane[] },
    lanes: ReadonlyMap<string, Stood>,
    watched: ReadonlySet<string>,
  ): Swap | undefined {
    const { wanted, ...rest } = given;
    const own = wanted.map(({ id }) => asksOf(lanes.get(id)?.lane.asks ?? "").map(({ gate }) => gate));
    const leases = new Set(own.map((keys) => this.#leaseOf(keys)));
    const parkedOn = [...new Set(own.flat())];
    const gates = [...new Set([...parkedOn, ...watched])].flatMap((key) => this.#gates.get(key) ?? []);
    if (leases.size > 1) return undefined;
    const [leaseMs = null] = leases;
    const { claimLeaseMs } = this.#seat;
    return { ...rest, sessions: this.#sessions, lanes: wanted, gates, parkedOn, leaseMs, claimLeaseMs };
  }
  #leaseOf(keys: readonly string[]): number | null {
    const leases = keys.flatMap((key) => this.#gates.get(key)?.leaseMs ?? []);
    return leases.length === 0 ? null : Math.min(...leases);
  }

  /** Returns whether every finished unit was replaced. If not, a whole pass must follow at once. */
  took({ finished }: Swap, swapped: Swapped | undefined): boolean {
    this.#swaps += 1;
    const isWhole = swapped?.claimed.length === finished.length;
    if (isWhole) {
      this.#misses = 0;
      for (const [id, spot] of swapped.from) {
        const one = this.#lanes?.get(id);
        if (one) one.first = { rank: one.lane.rank, ...spot };
      }
    } else {
      this.#lanes = undefined;
      this.#pause = Math.min(LONGEST_PAUSE, 2 ** this.#misses);
      this.#misses += 1;
    }
    return isWhole;
  }
}

/** The pass left nothing that the next one would have to look at. */
function isAtRest({ view, decision, answer }: Seen): boolean {
  const { fair, yielded, ended, unread, next, again } = decision;
  if (answer.more || !fair || yielded || ended) return false;
  const open = [view.lost, view.prefetched, view.parked ?? [], view.hidden ?? [], unread, next, again];
  return open.every((list) => list.length === 0);
}

/** A gate whose row alone says what its limit is. */
const isPlain = ({ key }: GateRow): boolean => familyOf(key) === null;

const isPlainEnd = (one: Finished): one is Ended =>
  (one.to === "succeeded" || one.to === "failed") &&
  !("revoked" in one) &&
  !one.stopping &&
  !one.news &&
  !one.handler;

/** Which units may replace the finished ones of each lane. Undefined if a pass has to decide about one of them. */
function wantedOf(
  finished: readonly Ended[],
  laneOf: ReadonlyMap<number, LaneSpec>,
  lanes: ReadonlyMap<string, Stood>,
  watched: Set<string>,
): SwapLane[] | undefined {
  const counts = new Map<string, number>();
  for (const { epoch } of finished) {
    const id = laneOf.get(epoch)?.id ?? "";
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const wanted: SwapLane[] = [];
  for (const [id, want] of counts) {
    const one = lanes.get(id);
    if (!one?.open) return undefined;
    const fence = fenceOf(one, lanes, watched);
    if (fence && compare(one.first, fence) >= 0) return undefined;
    // A place in a queue of another rank is ahead of the whole lane or behind it.
    wanted.push({ id, want, from: one.first, before: fence?.rank === one.lane.rank ? fence : null });
  }
  return wanted;
}

/**
 * The first place of another lane. A lane that a gate's rule holds back is passed over, and if it comes before
 * that place, the gate is watched.
 */
function fenceOf(one: Stood, lanes: ReadonlyMap<string, Stood>, watched: Set<string>): Place | undefined {
  const others = [...lanes.values()].filter((other) => other !== one);
  let fence: Place | undefined;
  for (const { heldBy, first } of others)
    if (heldBy === undefined && (!fence || compare(first, fence) < 0)) fence = first;
  for (const { heldBy, first } of others)
    if (heldBy !== undefined && (!fence || compare(first, fence) < 0)) watched.add(heldBy);
  return fence;
}

/** All lanes that may have waiting units. */
function stood(
  { lanes, heads, beyond }: View,
  scope: Scope,
  decision: Decision,
  gates: ReadonlyMap<string, GateRule>,
): Map<string, Stood> {
  const wants = new Map(scope.lanes.map(({ id, want }) => [id, want]));
  const gone = new Set([...decision.moves.claim.map(({ id }) => id), ...decision.moves.expire]);
  const states = new Map(decision.moves.lanes.map(({ lane, state }) => [lane, state]));
  const units = new Map<string, HeadRow[]>();
  for (const head of heads) units.set(head.lane, [...(units.get(head.lane) ?? []), head]);
  const all = lanes.flatMap((lane): Stood[] => {
    const shown = units.get(lane.id) ?? [];
    const left = shown.find(({ id }) => !gone.has(id));
    const isCut = shown.length >= (wants.get(lane.id) ?? 2);
    // Units that other claimers have locked were not shown, so the lane may have more than it showed.
    const first = scope.sideBySide ? lane.head : (left ?? (isCut ? shown.at(-1) : undefined));
    if (!first) return [];
    const { priority, at, id } = first;
    const open = (states.get(lane.id) ?? lane.state) === "open" && mayFlow(lane, decision, gates);
    const heldBy = left && heldByRule(decision, left.id).find((gate) => gates.has(gate));
    return [{ lane, first: { rank: lane.rank, priority, at, id }, heldBy, open }];
  });
  const further = beyond.map((lane) => ({ lane, first: placeOf(lane), heldBy: undefined, open: false }));
  return new Map([...further, ...all].map((one) => [one.lane.id, one]));
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
