/**
 * What a run leaves behind for the checkers, whoever recorded it: the audit inside the database, the witness outside
 * of it, the supervisor's own list of what it did. All times are milliseconds of the one host's wall clock.
 */

/** One line of the audit that triggers wrote, in the order in which the transactions were committed. */
export type Audited =
  /** `stopping` and `stopped`: its unit has moved on, but it holds its slots until its code has ended. */
  | ({ readonly kind: "claim" | "change" | "release" | "stopping" | "stopped" } & Moment & Claim)
  | ({ readonly kind: "session"; readonly session: string; readonly name: string } & Moment & Lease)
  | ({ readonly kind: "sessionEnd"; readonly session: string } & Moment)
  | ({ readonly kind: "limit"; readonly gate: string } & Moment & LimitInForce)
  | ({ readonly kind: "place"; readonly task: string; readonly place: string } & Moment & Life)
  | ({
      readonly kind: "outcome";
      readonly task: string;
      readonly state: string;
      readonly epoch: number | null;
    } & Moment &
      Life)
  | ({ readonly kind: "outcomeGone"; readonly task: string } & Moment);

export interface Moment {
  /** When it was committed. */
  readonly at: number;
  /** When the trigger ran, by the clock that leases are judged by. */
  readonly stamp: number;
}

export interface Claim extends Life {
  readonly epoch: number;
  readonly task: string;
  readonly lane: string;
  readonly session: string;
  /** It has its slots; one that was only taken ahead counts nowhere. */
  readonly held: boolean;
  readonly until: number | null;
}

export interface Lease {
  readonly expires: number;
}

export interface Life {
  readonly attempt: number;
  readonly losses: number;
}

export interface LimitInForce {
  readonly capacity: number | null;
  readonly paused: boolean;
}

export type Asks = Readonly<Record<string, number>>;

/** One stay of a task's code, as the witness saw it. */
export interface Visit {
  readonly task: string;
  readonly name: string;
  readonly epoch: number;
  readonly pid: number;
  /** Who started that process: its worker, where workers have processes of their own. */
  readonly parent: number;
  readonly gates: Asks;
  readonly from: number;
  /** When it said goodbye or its process was gone. */
  readonly to: number;
  /** It said goodbye. */
  readonly left: boolean;
}

/** What a task's code wanted to do to the outside world, and whether the fenced resource let it. */
export interface Effect {
  readonly at: number;
  readonly key: string;
  readonly token: number;
  readonly accepted: boolean;
}

/** When a process could not do what it should, and whose fault that was: ours. `pid` 0 means all of them. */
export interface Impairment {
  readonly pid: number;
  /** The worker it belonged to, when it was one of its child processes. */
  readonly parent?: number;
  readonly why: "killed" | "frozen" | "stalled" | "cut" | "store away" | "told to stop" | "noise";
  readonly from: number;
  readonly to: number;
}

/** A child process whose worker was killed, and when it was gone itself. */
export interface Orphan {
  readonly pid: number;
  readonly from: number;
  readonly to: number;
}

/** The claims that counted at one instant, as a reader saw them in one snapshot. */
export interface Snapshot {
  readonly at: number;
  readonly claims: readonly { readonly epoch: number; readonly lane: string }[];
}

/** The tables at the end. */
export interface Tables {
  readonly tasks: readonly TaskRow[];
  readonly waiting: readonly string[];
  readonly later: readonly string[];
  readonly running: readonly string[];
  readonly stopping: readonly string[];
  readonly outcomes: readonly OutcomeRow[];
  readonly lanes: ReadonlyMap<string, Asks>;
  readonly runs: readonly RunRow[];
  readonly steps: readonly StepRow[];
  /** Runs that somebody should have looked at. */
  readonly news: readonly string[];
  readonly gates: readonly string[];
  readonly sessions: readonly string[];
}

export interface TaskRow {
  readonly id: string;
  readonly name: string;
  readonly key: string | null;
  readonly attempts: number;
  /** The step, and of a list the item, that it is; null for a run and for a task by itself. */
  readonly run: string | null;
  readonly step: string | null;
  readonly item: number | null;
}

export interface RunRow {
  readonly id: string;
  readonly workflow: string;
  readonly source: string;
}

export interface StepRow {
  readonly run: string;
  readonly name: string;
  readonly state: string;
  readonly unit: string | null;
  /** How many items, of a list. */
  readonly total: number | null;
}

export interface OutcomeRow extends Life {
  readonly id: string;
  readonly state: string;
  readonly epoch: number | null;
  readonly body: string | null;
}

/** One batch that `enqueue` acknowledged. */
export interface Acked {
  readonly ids: readonly string[];
  readonly keys: readonly (string | null)[];
}

/** A worker that was told to stop, and when it was gone. */
export interface Stopped {
  readonly pid: number;
  readonly told: number;
  readonly gone: number;
  readonly code: string;
}

/** What a checker found. */
export interface Finding {
  readonly check: string;
  readonly figures: string;
  readonly violations: readonly string[];
}
