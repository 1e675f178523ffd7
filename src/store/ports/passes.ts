/**
 * The pass: the one verb in which something is decided. A store remembers and never decides: what may start is answered
 * by the function that `pass` is given, on what the store shows it under its locks.
 */
import type { LaneSpec } from "../lane.ts";
import type { GateRule } from "./gates.ts";
import type { Usage } from "./holdings.ts";
import type { HeadRow, LaneMove, LaneRow } from "./lanes.ts";
import type { Finished, News, Recovery } from "./reports.ts";
import type { Claimed, Epoch, SessionRow } from "./sessions.ts";

export interface PassPort {
  /** Complete, look, decide, claim: all in one transaction. `decide` is synchronous. */
  pass(scope: Scope, decide: Decide): Promise<Passed>;
}

export type Decide = (view: View) => Moves;

/** What a pass brings along, and what it wants to see. */
export interface Scope {
  readonly session: string;
  readonly finished: readonly Finished[];
  /** Runs to look at, beside those that what finished is news of. */
  readonly news?: readonly News[];
  /** Claims of this session whose code has begun since the last pass. */
  readonly started: readonly Epoch[];
  /** The lanes to look at, and how many of their units. */
  readonly lanes: readonly { readonly id: string; readonly want: number }[];
  /** Every gate of those lanes, and the families of gates per value: locked alone where it can bind, shared where it is thought to be unlimited. */
  readonly exclusive: readonly string[];
  readonly shared: readonly string[];
  /** Take in what was enqueued, and look for lanes beyond these. */
  readonly intake: boolean;
  /** The queues to look for further open lanes in, and how many of them to show for each. */
  readonly queues: readonly string[];
  readonly perQueue: number;
  /** Lanes that are not to be shown among those: this claimer knows that they are none of its business. */
  readonly without: readonly string[];
  /** Gates whose parked lanes are wanted where there is room for them; locked by this pass, too. */
  readonly parkedOn: readonly string[];
  /** Claimers work side by side here, as no gate makes them take turns: units that another one has in hand are passed over. */
  readonly sideBySide: boolean;
  /** How many unstarted claims of this session to look at in each lane; 0 where there are none. */
  readonly prefetching: number;
}

/** Everything a decision may look at, read under the locks of the pass. */
export interface View {
  readonly now: number;
  readonly gates: readonly GateRow[];
  readonly usage: readonly Usage[];
  /** The lanes of the scope. */
  readonly lanes: readonly LaneRow[];
  /** Under `sideBySide`, few units or none do not prove that a lane is empty. */
  readonly heads: readonly HeadRow[];
  readonly prefetched: readonly PrefetchedRow[];
  readonly sessions: readonly SessionRow[];
  readonly lost: readonly LostRow[];
  /** Open lanes outside the scope, best first. */
  readonly beyond: readonly LaneRow[];
  /**
   * Lanes outside the scope that are parked on a gate of `parkedOn` that has room: of each queue the best of those it has
   * room for, no more than slots are free, and the first of those that ask for more, where a line keeps slots for them.
   */
  readonly parked?: readonly LaneRow[];
  /** The first of each such list that is not shown any more. */
  readonly hidden?: readonly LaneRow[];
}

export interface GateRow extends GateRule {
  /** Whether this pass holds its lock alone. */
  readonly locked: boolean;
}

/** A claim that its session has not started: in soft mode it holds nothing yet. */
export interface PrefetchedRow extends HeadRow {
  readonly epoch: number;
}

/** A claim whose holder is gone: its session has ended, or it was not started within its claim lease. */
export interface LostRow {
  readonly id: string;
  readonly epoch: number;
  readonly lane: string;
  readonly started: boolean;
  readonly attempt: number;
  readonly losses: number;
  readonly goodUntil: number | null;
  readonly options: string;
}

/** What to write, as decided. */
export interface Moves {
  /** Waiting units to claim; `held` ones take their slots now, others are prefetched. */
  readonly claim: readonly {
    readonly id: string;
    readonly held: boolean;
    /** The shortest lease of its pools: it must be renewed within that time for as long as it is held. */
    readonly leaseMs?: number | null;
  }[];
  readonly claimLeaseMs: number;
  /** Prefetched claims of this session that start now. */
  readonly start: readonly Epoch[];
  readonly expire: readonly string[];
  /** Runs that there is something new of: let in by this pass, or with a step that recovery has ended. */
  readonly news?: readonly News[];
  readonly recover: readonly Recovery[];
  readonly lanes: readonly LaneMove[];
}

export interface Passed {
  readonly now: number;
  readonly claimed: readonly Claimed[];
  /** Prefetched claims that were still ours and now hold their slots. */
  readonly started: readonly string[];
  /** Reports that were taken; the others were stale and changed nothing. */
  readonly accepted: ReadonlySet<string>;
  /** Lanes that came in from newly enqueued units. */
  readonly arrived: readonly LaneSpec[];
}
