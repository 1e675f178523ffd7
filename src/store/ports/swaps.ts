/**
 * The short way through a pass. It decides nothing, so it claims only while nothing has changed that a pass
 * would have to decide about. The claimer says what it has seen (`src/engine/claiming/short-way.ts`).
 */
import type { GateRule } from "./gates.ts";
import type { LaneRow } from "./lanes.ts";
import type { Ended } from "./reports.ts";
import type { Claimed, Epoch } from "./sessions.ts";

export interface SwapPort {
  /**
   * Replaces finished units by the next units of their lanes, or by claims made ahead, in one transaction. The
   * reports are recorded in any case. Units start only if everything in `swap` is still so. Returns undefined if nothing was
   * written at all. A store may always do that: the claimer makes a pass then.
   */
  swap(swap: Swap): Promise<Swapped | undefined>;
}

/**
 * Finished units, and what may replace them. A unit is claimed only if all reports are current, the session is
 * alive, no other session has begun, no lane is parked on a gate of `parkedOn`, and every gate has the rule that is given here.
 */
export interface Swap {
  readonly session: string;
  /** The sessions that were alive. If there is another one by now, it may want its part. */
  readonly sessions: readonly string[];
  /** Units that succeeded or failed, whose code has ended, and that are no steps of a run. */
  readonly finished: readonly Ended[];
  /** Claims of this session whose code has begun since the last exchange. */
  readonly started: readonly Epoch[];
  /** The lanes whose next units are claimed. */
  readonly lanes: readonly SwapLane[];
  /**
   * Claims of this session that were made ahead of their slots and take the slots now. A claim that has lapsed
   * or expired, or whose lane is not open, does not start.
   */
  readonly ahead: readonly AheadClaim[];
  /**
   * All gates of these lanes, and the gates that hold back units ahead of them. None of them has a family.
   */
  readonly gates: readonly GateRule[];
  /** The gates of these lanes. No lane may be parked on any of them. */
  readonly parkedOn: readonly string[];
  readonly claimLeaseMs: number;
  /** The shortest lease of the gates of these lanes. */
  readonly leaseMs: number | null;
}

export interface AheadClaim extends Epoch {
  readonly lane: string;
}

/** A lane with finished units. None of its units is claimed unless it is open. */
export interface SwapLane {
  readonly id: string;
  /** How many of its units have finished, and so how many may start. */
  readonly want: number;
  /** Units before this place are not claimed. */
  readonly from: LanePlace;
  /** Units at or behind this place are not claimed. Null if every unit may be. */
  readonly before: LanePlace | null;
}

/** A place among the units of one lane. */
export type LanePlace = LaneRow["head"];

export interface Swapped {
  /** The store's time. Null if nothing was claimed or started. */
  readonly now: number | null;
  readonly claimed: readonly Claimed[];
  /** Those of the claims ahead that have started. */
  readonly started: readonly string[];
  /** Units whose reports were accepted. */
  readonly accepted: ReadonlySet<string>;
  /** The place of the first unit that was claimed of each lane. */
  readonly from: ReadonlyMap<string, LanePlace>;
}
