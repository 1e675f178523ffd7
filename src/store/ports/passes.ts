/**
 * The pass: the only verb that admits units. A store remembers and never decides. The function given to
 * `pass` decides which units may start, from the rows that the store shows it under its locks.
 */
import type { LaneSpec } from "../lane.ts";
import type { GateRule } from "./gates.ts";
import type { Usage } from "./holdings.ts";
import type { HeadRow, LaneMove, LaneRow } from "./lanes.ts";
import type { Finished, News, Recovery } from "./reports.ts";
import type { Claimed, Epoch, SessionRow } from "./sessions.ts";

export interface PassPort {
  /** Records finished units, looks, decides and claims, all in one transaction. `decide` is synchronous. */
  pass(scope: Scope, decide: Decide): Promise<Passed>;
}

/** How long a claim lasts at most that was handed to another session and is never started. */
export const HANDED_MS = 24 * 60 * 60 * 1_000;

export type Decide = (view: View) => Moves;

/** The reports that a pass brings along, and the rows that it wants to see. */
export interface Scope {
  readonly session: string;
  readonly finished: readonly Finished[];
  /** Runs to look at, besides those that `finished` is news of. */
  readonly news?: readonly News[];
  /** Claims of this session whose code has begun since the last pass. */
  readonly started: readonly Epoch[];
  /** The lanes to look at, and how many units of each. */
  readonly lanes: readonly { readonly id: string; readonly want: number }[];
  /**
   * Every gate of those lanes, and the families of gates per value. A gate that can bind is locked
   * exclusively; a gate believed to be unlimited is locked shared.
   */
  readonly exclusive: readonly string[];
  readonly shared: readonly string[];
  /** Take in arrivals, and look for lanes beyond these. */
  readonly intake: boolean;
  /** The queues in which to look for further open lanes, and how many lanes to show for each. */
  readonly queues: readonly string[];
  readonly perQueue: number;
  /** Lanes to leave out of those, because this claimer knows that they do not concern it. */
  readonly without: readonly string[];
  /** Gates whose parked lanes are wanted if the gate has room. This pass locks these gates too. */
  readonly parkedOn: readonly string[];
  /** Queues of other workers. Parked lanes are shown from there too, because a slot freed here may be theirs. */
  readonly elsewhere: readonly string[];
  /**
   * No gate makes claimers take turns here, so they work side by side. Units that another claimer has locked
   * are skipped.
   */
  readonly sideBySide: boolean;
  /** How many unstarted claims of this session to look at in each lane; 0 if it has none. */
  readonly prefetching: number;
}

/** Everything a decision may look at, read under the locks of the pass. */
export interface View {
  readonly now: number;
  readonly gates: readonly GateRow[];
  readonly usage: readonly Usage[];
  /** The lanes of the scope. */
  readonly lanes: readonly LaneRow[];
  /** Under `sideBySide`, few or no units do not prove that a lane is empty. */
  readonly heads: readonly HeadRow[];
  readonly prefetched: readonly PrefetchedRow[];
  readonly sessions: readonly SessionRow[];
  readonly lost: readonly LostRow[];
  /** Open lanes outside the scope, best first. */
  readonly beyond: readonly LaneRow[];
  /**
   * Lanes outside the scope that are parked on a gate of `parkedOn` with room. Of each queue: the best lanes
   * that fit, no more than there are free slots, and the first of those that ask for more, if a line saves
   * slots for them.
   */
  readonly parked?: readonly LaneRow[];
  /** The first lane of each such list that is not shown. */
  readonly hidden?: readonly LaneRow[];
}

export interface GateRow extends GateRule {
  /** Whether this pass holds its lock exclusively. */
  readonly locked: boolean;
}

/** A prefetched claim: its session has not started it, and it holds no slots yet. */
export interface PrefetchedRow extends HeadRow {
  readonly epoch: number;
}

/** A lost claim: its session has ended, it was not started within its claim lease, or its own lease has run out. */
export interface LostRow {
  readonly id: string;
  readonly epoch: number;
  readonly lane: string;
  readonly started: boolean;
  readonly attempt: number;
  readonly losses: number;
  readonly goodUntil: number | null;
  readonly options: string;
  /** Read only if the options name a task that handles its failure. */
  readonly input: string | null;
}

/** The changes to write, as decided. */
export interface Moves {
  /** Waiting units to claim. A unit with `held` takes its slots now; the others are prefetched. */
  readonly claim: readonly {
    readonly id: string;
    readonly held: boolean;
    /**
     * The shortest lease of its pools. The claim must be renewed within this time for as long as it is held.
     */
    readonly leaseMs?: number | null;
    /**
     * The session that gets it, if that is another one: a lock is handed to the process that asked for it. Such a
     * claim need not be started.
     */
    readonly session?: string;
  }[];
  readonly claimLeaseMs: number;
  /** Prefetched claims of this session that start now. */
  readonly start: readonly Epoch[];
  readonly expire: readonly string[];
  /** Runs with something new: admitted by this pass, or with a step that recovery has ended. */
  readonly news?: readonly News[];
  readonly recover: readonly Recovery[];
  readonly lanes: readonly LaneMove[];
}

export interface Passed {
  readonly now: number;
  readonly claimed: readonly Claimed[];
  /** Prefetched claims that still belonged to this session and now hold their slots. */
  readonly started: readonly string[];
  /** Reports that were accepted. The others were stale and changed nothing. */
  readonly accepted: ReadonlySet<string>;
  /** Lanes of the newly enqueued units that were taken in. */
  readonly arrived: readonly LaneSpec[];
}
