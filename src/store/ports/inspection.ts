/**
 * The data for the doctor, all read at one instant: states that should never occur, and the facts that the
 * store's promises depend on.
 */
import type { Limit } from "../../core/gate/gate.ts";
import type { AsideRow } from "./asides.ts";
import type { GateState } from "./gates.ts";
import type { StoppingRow } from "./holdings.ts";
import type { SessionRow } from "./sessions.ts";

export interface InspectionPort {
  /** Reads everything once and takes no locks. Meant for an occasional look, not for a loop. */
  inspect(): Promise<Inspection>;
}

/** Ways in which rows can contradict this contract. The verbs of a store cannot cause any of them. */
export type Contradiction =
  /**
   * Tasks that are in none of waiting, later, running and outcome (`nowhere`), or in two of them (`twice`).
   */
  | "nowhere"
  | "twice"
  /** Rows of a place or a deadline whose task is missing: "later 01m7…". */
  | "bodiless"
  /** Tasks with two claims, or with the epoch of another claim. */
  | "claimedTwice"
  /** Claims whose lane is missing, including those of stopping code. They count at no gate. */
  | "uncounted"
  /**
   * Runs that are over and still hold their slots, although none of their code is stopping and no news of
   * them is left.
   */
  | "unreleased"
  /** Waiting steps of runs that are not in progress: "RUN/STEP". */
  | "leftWaits"
  /** Open steps that wait for something, and nothing could ever end that: "RUN/STEP". */
  | "endlessWaits"
  /** Waiting steps with an answer that no look at their run will find: "RUN/STEP". */
  | "unheardAnswers"
  /** Claims and outcomes with an epoch that has not been handed out yet. */
  | "unborn"
  /** Lanes whose head is behind their first unit, so that a pass begins after it. */
  | "lateHeads"
  /** Waiting units that no pass would find: their lane is idle or missing, and no arrival announces them. */
  | "unfindable"
  /** Lanes parked on no gate, or on a gate that is missing: "01m7… on pool:gpu". */
  | "parkedNowhere"
  | "malformedGates"
  /** Gates that an app declares a limit for but that have no row. */
  | "missingGates"
  /** Gate rows with a name that no unit can ask for, in quotes. */
  | "misnamedGates"
  | "malformedTasks";

/** The first ten, and whether there are more. */
export interface Sample {
  readonly ids: readonly string[];
  readonly more: boolean;
  /** The gates that rows of `parkedNowhere` name, as far as they name one. */
  readonly gates?: readonly string[];
}

export interface InspectedGate extends GateState {
  /** When its newest grant was made; null if it has no holder. */
  readonly grantedAt: number | null;
  /** The last recorded change: its time, and the limit it set. */
  readonly changed: { readonly at: number; readonly limit: Limit } | null;
}

/** A claim that no longer counts. `forMs` is null if the end of its session left no trace. */
export interface LostClaim {
  readonly id: string;
  readonly epoch: number;
  readonly queue: string;
  readonly task: string;
  readonly forMs: number | null;
}

/** Everything at one instant: contradictions, and the facts that promises depend on. The store judges nothing. */
export interface Inspection {
  readonly now: number;
  readonly schema: number;
  readonly gates: readonly InspectedGate[];
  /** The live sessions. */
  readonly sessions: readonly (SessionRow & { readonly name: string; readonly startedAt: number })[];
  /** The first 200. */
  readonly lost: readonly LostClaim[];
  /** The first 200 claims whose code should have ended. */
  readonly stopping: readonly StoppingRow[];
  readonly waiting: readonly { readonly queue: string; readonly task: string; readonly units: number }[];
  readonly rows: Readonly<Record<CountedTable, number>>;
  readonly broken: Readonly<Record<Contradiction, Sample>>;
  /** The first 200 lanes that were set aside. */
  readonly aside: readonly AsideRow[];
  /** The database's settings, by its own names. */
  readonly settings: Readonly<Record<string, string>>;
}

export type CountedTable = "task" | "waiting" | "later" | "running" | "outcome" | "event";
