/** What a doctor asks of a store: what can never be, and what its promises rest on, all at one instant. */
import type { Limit } from "../../core/gate/gate.ts";
import type { AsideRow } from "./asides.ts";
import type { GateState } from "./gates.ts";
import type { StoppingRow } from "./holdings.ts";
import type { SessionRow } from "./sessions.ts";

export interface InspectionPort {
  /** Reads everything once and locks nothing: for a look now and then, not for a loop. */
  inspect(): Promise<Inspection>;
}

/** Ways in which rows can contradict this contract. None of them can come about through the verbs of a store. */
export type Contradiction =
  /** Tasks that are in none of waiting, later, running and outcome; and those in two of them. */
  | "nowhere"
  | "twice"
  /** Rows of a place or a deadline whose task is not there: "later 01m7…". */
  | "bodiless"
  /** Tasks with two claims, or with the epoch of another claim. */
  | "claimedTwice"
  /** Claims, of code that stops too, whose lane is not there: they count at no gate. */
  | "uncounted"
  /** Runs that are over and hold their slots, though nothing of theirs is stopping and no news of them is left. */
  | "unreleased"
  /** Claims and outcomes with an epoch that is still to be handed out. */
  | "unborn"
  /** Lanes whose head is later than their first unit, so that a pass begins behind it. */
  | "lateHeads"
  /** Waiting units that no pass would find: their lane is idle or missing, and no arrival announces them. */
  | "unfindable"
  /** Lanes parked on no gate, or on one that is not there: "01m7… on pool:gpu". */
  | "parkedNowhere"
  | "malformedGates"
  /** Gates for which an app declares a limit, and which have no row. */
  | "missingGates"
  /** Rows of gates with a name that nobody can ask for, in quotes. */
  | "misnamedGates"
  | "malformedTasks";

/** The first ten, and whether there are more. */
export interface Sample {
  readonly ids: readonly string[];
  readonly more: boolean;
}

export interface InspectedGate extends GateState {
  /** When the newest of its grants was made; null when nobody holds it. */
  readonly grantedAt: number | null;
  /** The last change that is on record: when, and the limit as it was then. */
  readonly changed: { readonly at: number; readonly limit: Limit } | null;
}

/** A claim that counts nowhere any more; `forMs` is null where the end of its session left no trace. */
export interface LostClaim {
  readonly id: string;
  readonly epoch: number;
  readonly queue: string;
  readonly task: string;
  readonly forMs: number | null;
}

/** Everything at one instant: what contradicts itself, and what the promises rest on. Nothing is judged here. */
export interface Inspection {
  readonly now: number;
  readonly schema: number;
  readonly gates: readonly InspectedGate[];
  /** Live ones. */
  readonly sessions: readonly (SessionRow & { readonly name: string; readonly startedAt: number })[];
  /** The first 200. */
  readonly lost: readonly LostClaim[];
  /** Code that should have ended; the first 200. */
  readonly stopping: readonly StoppingRow[];
  readonly waiting: readonly { readonly queue: string; readonly task: string; readonly units: number }[];
  readonly rows: Readonly<Record<CountedTable, number>>;
  readonly broken: Readonly<Record<Contradiction, Sample>>;
  /** Lanes that were set aside, the first 200. */
  readonly aside: readonly AsideRow[];
  /** What the database says about itself, in its own words. */
  readonly settings: Readonly<Record<string, string>>;
}

export type CountedTable = "task" | "waiting" | "later" | "running" | "outcome" | "event";
