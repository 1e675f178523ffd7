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
 * A worker with claims ahead of their slots (`prefetch`) replaces finished units by the first of these claims, under
 * the same conditions. It takes nothing out of the line. The next whole pass fills up its claims.
 *
 * The store then checks under its locks that all reports are current, the session is alive, the gates have the
 * same rules, the lanes are open, and no lane is parked on their gates. It takes no expired unit. If it claims
 * fewer units than have finished, a whole pass follows in the same exchange. So a wrong guess costs that pass
 * and nothing else.
 */
import { familyOf } from "../../core/gate/key.ts";
import type { LaneSpec } from "../../store/lane.ts";
import { asksOf } from "../../store/lane.ts";
import type {
  AheadClaim,
  Ended,
  Finished,
  GateRow,
  GateRule,
  Swap,
  SwapLane,
  Swapped,
} from "../../store/store.ts";
import type { Report, Seat } from "./claims.ts";
import type { Stood, WholePass } from "./stood.ts";
import { aheadOf, nextOfLane, stood } from "./stood.ts";

/** The most swaps between two whole passes. */
const MOST = 15;
/** How long the picture of a whole pass is trusted. */
const TRUSTED_MS = 250;
/** After swaps that claimed too little, at most this many whole passes come before the next one. */
const LONGEST_PAUSE = 16;

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
  passBegins(isHinted: boolean): (seen: WholePass | undefined) => void {
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

  #learn(seen: WholePass, askedAt: number, number: number): void {
    const { view } = seen;
    this.#learned = number;
    this.#swaps = 0;
    this.#until = askedAt + TRUSTED_MS;
    this.#lanes = undefined;
    if (this.#pause > 0) this.#pause -= 1;
    else if (isAtRest(seen)) {
      this.#sessions = view.sessions.map(({ id }) => id);
      this.#gates = new Map(view.gates.flatMap((gate) => (isPlain(gate) ? [[gate.key, gate]] : [])));
      this.#lanes = stood(seen, this.#gates);
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
    const wanted = wantedOf(finished, laneOf, (id, want) => this.#next(lanes, id, want, watched));
    const swap =
      wanted && this.#swapOf({ ...wanted, finished, started: report.started, session }, lanes, watched);
    if (swap) leave(lanes, swap.ahead);
    return swap;
  }

  #next(lanes: ReadonlyMap<string, Stood>, id: string, want: number, watched: Set<string>): Next | undefined {
    const one = lanes.get(id);
    if (!one?.open) return undefined;
    if (this.#seat.prefetch > 0) return { ahead: aheadOf(one, want, lanes, watched) };
    return { lane: nextOfLane(one, want, lanes, watched) };
  }

  #isUsual({ finished, active, appetite, claims, draining: isDraining, hinted }: Report): boolean {
    const { slots, claimBatch, prefetch } = this.#seat;
    // Claims that were made ahead are not made again.
    const mayClaim = prefetch > 0 ? slots : Math.min(claims ?? slots, claimBatch ?? slots);
    const most = Math.min(appetite, slots - active, mayClaim);
    return !isDraining && !hinted && finished.length > 0 && finished.length <= most;
  }

  #swapOf(
    given: Pick<Swap, "finished" | "started" | "session" | "lanes" | "ahead">,
    lanes: ReadonlyMap<string, Stood>,
    watched: ReadonlySet<string>,
  ): Swap | undefined {
    const ids = new Set([...given.lanes.map(({ id }) => id), ...given.ahead.map(({ lane }) => lane)]);
    const own = [...ids].map((id) => asksOf(lanes.get(id)?.lane.asks ?? "").map(({ gate }) => gate));
    const leases = new Set(own.map((keys) => this.#leaseOf(keys)));
    const parkedOn = [...new Set(own.flat())];
    const gates = [...new Set([...parkedOn, ...watched])].flatMap((key) => this.#gates.get(key) ?? []);
    if (leases.size > 1) return undefined;
    const [leaseMs = null] = leases;
    const { claimLeaseMs } = this.#seat;
    return { ...given, sessions: this.#sessions, gates, parkedOn, leaseMs, claimLeaseMs };
  }

  #leaseOf(keys: readonly string[]): number | null {
    const leases = keys.flatMap((key) => this.#gates.get(key)?.leaseMs ?? []);
    return leases.length === 0 ? null : Math.min(...leases);
  }

  /** Returns whether every finished unit was replaced. If not, a whole pass must follow at once. */
  took({ finished }: Swap, swapped: Swapped | undefined): boolean {
    this.#swaps += 1;
    const started = (swapped?.claimed.length ?? 0) + (swapped?.started.length ?? 0);
    if (swapped && started === finished.length) {
      this.#misses = 0;
      for (const [id, spot] of swapped.from) {
        const one = this.#lanes?.get(id);
        if (one) one.first = { rank: one.lane.rank, ...spot };
      }
      return true;
    }
    this.#lanes = undefined;
    this.#pause = Math.min(LONGEST_PAUSE, 2 ** this.#misses);
    this.#misses += 1;
    return false;
  }
}

/** The pass left nothing that the next one would have to look at. */
function isAtRest({ view, decision, answer }: WholePass): boolean {
  const { fair, yielded, ended, unread, next, again } = decision;
  if (answer.more || !fair || yielded || ended) return false;
  const open = [view.lost, view.parked ?? [], view.hidden ?? [], unread, next, again];
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

/** What may replace the finished units of one lane. */
interface Next {
  readonly lane?: SwapLane | undefined;
  readonly ahead?: readonly AheadClaim[] | undefined;
}

/** What may replace the finished units. Undefined if a pass has to decide about one of them. */
function wantedOf(
  finished: readonly Ended[],
  laneOf: ReadonlyMap<number, LaneSpec>,
  nextOf: (lane: string, want: number) => Next | undefined,
): Pick<Swap, "lanes" | "ahead"> | undefined {
  const counts = new Map<string, number>();
  for (const { epoch } of finished) {
    const id = laneOf.get(epoch)?.id ?? "";
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const lanes: SwapLane[] = [];
  const ahead: AheadClaim[] = [];
  for (const [id, want] of counts) {
    const next = nextOf(id, want);
    if (next?.lane) lanes.push(next.lane);
    else if (next?.ahead) ahead.push(...next.ahead);
    else return undefined;
  }
  return { lanes, ahead };
}

/** These claims are on their way, so that a second exchange in flight starts those behind them. */
function leave(lanes: ReadonlyMap<string, Stood>, ahead: readonly AheadClaim[]): void {
  const gone = new Set(ahead.map(({ epoch }) => epoch));
  for (const id of new Set(ahead.map(({ lane }) => lane))) {
    const one = lanes.get(id);
    if (one) one.ahead = one.ahead.filter(({ epoch }) => !gone.has(epoch));
  }
}
