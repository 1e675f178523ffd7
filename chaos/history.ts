/**
 * What a run leaves behind for the checkers: the audit inside the database, the witness outside of it, and
 * the supervisor's own list of what it did. All times are milliseconds of the host's wall clock.
 */

/** One row that the audit's triggers wrote. Rows are in commit order. */
export type Audited =
  /** `stopping` and `stopped`: the unit has moved on, but it holds its slots until its code has ended. */
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
  /** True if it has its slots. A claim taken ahead counts nowhere. */
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
  /** The parent of that process: its worker, if the worker has child processes. */
  readonly parent: number;
  /** The step or item that its input names. Null for code that belongs to no run. */
  readonly mark: string | null;
  readonly gates: Asks;
  readonly from: number;
  /** When it left or its process was gone. */
  readonly to: number;
  /** True if it left by itself. */
  readonly left: boolean;
}

/** An effect that a task's code wanted, and whether the fenced resource accepted it. */
export interface Effect {
  readonly at: number;
  readonly key: string;
  readonly token: number;
  readonly accepted: boolean;
}

/** When a process could not work, because of us or the machine. `pid` 0 means all processes. */
export interface Impairment {
  readonly pid: number;
  /** Its worker, if it was a child process. */
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

/** The claims that counted at one instant, read in one snapshot. */
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
  /** Runs with news that no worker has looked at yet. */
  readonly news: readonly string[];
  readonly gates: readonly string[];
  readonly sessions: readonly string[];
}

export interface TaskRow {
  readonly id: string;
  readonly name: string;
  readonly key: string | null;
  readonly attempts: number;
  /** The run, step and item of a unit. Null for a run and for a plain task. */
  readonly run: string | null;
  readonly step: string | null;
  readonly item: number | null;
}

export interface RunRow {
  readonly id: string;
  readonly workflow: string;
  readonly source: string;
  /** What its trigger marked it with. Null for a run that code submitted. */
  readonly mark: string | null;
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

/** A run as it was submitted. Submitting may have been tried more than once, with the same key. */
export interface Ordered {
  readonly key: string;
  readonly workflow: string;
  /** One for each step, and one for each item of a list. */
  readonly marks: readonly string[];
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
