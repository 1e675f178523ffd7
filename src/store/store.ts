/**
 * The contract of every store, in domain verbs. A store remembers; it never decides: what may start is answered
 * by the function handed to `pass`, between the two flights of one transaction.
 *
 * Where a unit is, is its state: `waiting`, `later`, `running` (claimed or started) or `outcome`. Each move is one
 * transaction, so a unit is in exactly one of them. Every write by a holder names its epoch and changes nothing
 * when another epoch is current.
 */
import type { Limit, Line } from "../core/gate/gate.ts";
import type { Inspection } from "./inspection.ts";
import type { LaneSpec } from "./lane.ts";
import type { News, RunVerbs } from "./runs.ts";
import type { TriggerVerbs } from "./triggers.ts";

export type {
  Contradiction,
  CountedTable,
  InspectedGate,
  Inspection,
  LostClaim,
  Sample,
} from "./inspection.ts";
export type {
  Advance,
  Advanced,
  Fan,
  GateHolder,
  ItemCounts,
  ItemRow,
  LineView,
  NewRun,
  News,
  Results,
  RunDetail,
  RunFilter,
  RunMove,
  RunRow,
  RunSeen,
  RunState,
  StepMove,
  StepRow,
  StepSeen,
  StepState,
  Timer,
} from "./runs.ts";
export { RUNS } from "./runs.ts";
export type { TriggerRow } from "./triggers.ts";

// ── what goes in ───────────────────────────────────────────────────────────────────────────────────────────────

/** What an app says about its limits. Declared values are initial ones: what an operator set stays. */
export interface Declaration {
  readonly queues: readonly { readonly name: string; readonly rank: number }[];
  readonly gates: readonly DeclaredGate[];
}

export interface DeclaredGate {
  readonly key: string;
  readonly limit: number;
  readonly line: Line;
  readonly leaseMs?: number | undefined;
}

export interface NewTask {
  readonly id: string;
  readonly name: string;
  readonly priority: number;
  readonly lane: LaneSpec;
  /** JSON text. */
  readonly input: string;
  /** JSON text of what a worker and the recovery need to know: retry policy, timeout. */
  readonly options: string;
  readonly key: string | null;
  /** Start not before: an instant, or a delay from the store's own now. */
  readonly runAt: number | null;
  readonly delayMs: number | null;
  /** Must have started before: an instant, or a span from the store's own now. */
  readonly goodUntil: number | null;
  readonly goodForMs: number | null;
}

export interface Enqueued {
  readonly id: string;
  /** False when a task with this idempotency key was there already; `id` is then that task. */
  readonly created: boolean;
}

export interface NewSession {
  readonly id: string;
  readonly name: string;
  readonly slots: number;
  /** JSON text: { queues: string[], tasks: string[] }. */
  readonly serves: string;
  readonly leaseMs: number;
}

// ── the pass ───────────────────────────────────────────────────────────────────────────────────────────────────

export type FinalState = "succeeded" | "failed" | "cancelled" | "expired" | "quarantined";

/** What a holder says of a claim that is over: how its attempt ended, or that its code died. */
export type Finished = Ended | Revoked;

/** How an attempt ended. */
export interface Ended {
  readonly id: string;
  readonly epoch: number;
  /** `retry` waits for `delayMs`; `returned` goes back to its place without having used an attempt. */
  readonly to: "succeeded" | "failed" | "retry" | "returned";
  /** JSON text: the result, or the error. */
  readonly body: string | null;
  readonly delayMs: number;
  /** What there is to look at when it has ended: it is a step of a run. A report that comes too late is no news. */
  readonly news?: News | undefined;
}

export interface Scope {
  readonly session: string;
  readonly finished: readonly Finished[];
  /** Runs to look at, beside those that what finished is news of. */
  readonly news?: readonly News[];
  /** Claims of this session whose code has begun since the last pass. */
  readonly started: readonly { readonly id: string; readonly epoch: number }[];
  /** The lanes to look at, and how many of their units. */
  readonly lanes: readonly { readonly id: string; readonly want: number }[];
  /** Lanes known to be none of this claimer's business. */
  readonly aside: readonly string[];
  /** Every gate of those lanes, and the families of gates per value: locked alone where it can bind, shared where it is thought to be unlimited. */
  readonly exclusive: readonly string[];
  readonly shared: readonly string[];
  /** Take in what was enqueued, and look for lanes beyond these. */
  readonly intake: boolean;
  /** The queues to look for further open lanes in, and how many of them to report for each. */
  readonly queues: readonly string[];
  readonly lookahead: number;
  /** Gates whose parked lanes may move now; a subset of `exclusive`. */
  readonly unpark: readonly string[];
  /** Pass over units that another claimer has in hand: right where no gate serializes the claimers. */
  readonly skipLocked: boolean;
  /** How many unstarted claims of this session to look at in each lane; 0 where there are none. */
  readonly prefetching: number;
}

export interface GateRow {
  readonly key: string;
  readonly limit: Limit;
  readonly paused: boolean;
  readonly line: Line;
  /** How long a claim on it lasts without being renewed; null where only its session counts. */
  readonly leaseMs: number | null;
  /** Whether this pass holds its lock alone. */
  readonly locked: boolean;
}

/** Units of a lane that a session holds. Those of lost holders are listed apart and count nowhere. */
export interface Usage {
  readonly lane: string;
  readonly asks: string;
  readonly session: string;
  readonly held: boolean;
  readonly lost: boolean;
  readonly units: number;
}

export interface LaneRow {
  readonly id: string;
  readonly queue: string;
  readonly task: string;
  /** JSON text: [[gate, slots], …]. */
  readonly asks: string;
  readonly rank: number;
  readonly state: LaneState;
  readonly parked: string | null;
  /** A lower bound of its first unit's place; exact after every change. */
  readonly head: { readonly priority: number; readonly at: number; readonly id: string };
  readonly stamp: number;
  readonly mark: { readonly unit: string; readonly passed: number; readonly since: number } | null;
  /** The gates its head waited for after the last pass that changed them: JSON text of keys. */
  readonly blocked: string;
}

export type LaneState = "idle" | "open" | "parked";

export interface HeadRow {
  readonly id: string;
  readonly lane: string;
  readonly priority: number;
  readonly at: number;
  readonly goodUntil: number | null;
}

/** A claim that its session has not started: in soft mode it holds nothing yet. */
export interface PrefetchedRow extends HeadRow {
  readonly epoch: number;
}

export interface SessionRow {
  readonly id: string;
  readonly slots: number;
  readonly serves: string;
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

/** Everything a decision may look at, read under the locks of the pass. */
export interface View {
  readonly now: number;
  readonly gates: readonly GateRow[];
  readonly usage: readonly Usage[];
  /** The lanes of the scope, and the best lanes parked on each gate of `unpark`. */
  readonly lanes: readonly LaneRow[];
  /** Under skipLocked, few units or none do not prove that a lane is empty. */
  readonly heads: readonly HeadRow[];
  readonly prefetched: readonly PrefetchedRow[];
  readonly sessions: readonly SessionRow[];
  readonly lost: readonly LostRow[];
  /** Open lanes outside the scope, best first. */
  readonly beyond: readonly LaneRow[];
}

export interface LaneMove {
  readonly lane: string;
  /** The move is dropped when somebody else changed the lane since it was read. */
  readonly stamp: number;
  readonly state: LaneState;
  readonly parked: string | null;
  readonly mark: LaneRow["mark"];
  readonly blocked: string;
  /** Its new first place, where it is known for sure; null leaves the old one. */
  readonly head: LaneRow["head"] | null;
}

export interface Recovery {
  readonly id: string;
  readonly epoch: number;
  readonly to: "waiting" | "retry" | "failed" | "quarantined" | "expired";
  readonly body: string | null;
}

/** The process that ran it died, and its holder saw that: recovered as a lost claim is, without waiting for a lease. */
export interface Revoked extends Recovery {
  readonly revoked: true;
  /** What there is to look at when it has ended: it is a step of a run. */
  readonly news?: News | undefined;
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
  readonly start: readonly { readonly id: string; readonly epoch: number }[];
  readonly expire: readonly string[];
  /** Runs that there is something new of: let in by this pass, or with a step that recovery has ended. */
  readonly news?: readonly News[];
  readonly recover: readonly Recovery[];
  readonly lanes: readonly LaneMove[];
}

export interface Claimed {
  readonly id: string;
  readonly name: string;
  readonly lane: string;
  readonly epoch: number;
  readonly attempt: number;
  readonly losses: number;
  readonly held: boolean;
  readonly input: string;
  readonly options: string;
  readonly goodUntil: number | null;
  /** A lease of its own, beside its session's; null where it has none. */
  readonly leaseMs: number | null;
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

// ── what people ask ────────────────────────────────────────────────────────────────────────────────────────────

export type TaskState = "later" | "waiting" | "claimed" | "running" | FinalState;

export interface TaskRow {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly lane: string;
  readonly asks: string;
  readonly priority: number;
  readonly state: TaskState;
  readonly input: string;
  readonly options: string;
  readonly key: string | null;
  readonly attempt: number;
  readonly losses: number;
  readonly createdAt: number;
  /** When it stood in line, or will (later), or was claimed, or finished. */
  readonly at: number;
  readonly session: string | null;
  readonly epoch: number | null;
  readonly goodUntil: number | null;
  readonly progress: string | null;
  readonly body: string | null;
}

export interface TaskFilter {
  readonly state?: TaskState | undefined;
  readonly queue?: string | undefined;
  readonly name?: string | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
}

export interface EventRow {
  readonly subject: string;
  readonly n: number;
  readonly kind: string;
  readonly at: number;
  readonly data: string | null;
}

export interface GateInfo extends Omit<GateRow, "locked"> {
  readonly declared: Limit;
  readonly setBy: string | null;
  readonly setAt: number | null;
}

export interface HolderRow {
  readonly id: string;
  readonly name: string;
  readonly lane: string;
  readonly session: string;
  readonly since: number;
  readonly held: boolean;
}

/** All that is needed to explain one wait, read at one instant. */
export interface WaitView {
  readonly now: number;
  readonly task: TaskRow;
  readonly rank: number;
  readonly gates: readonly GateInfo[];
  readonly usage: readonly Usage[];
  /** The best lanes that stand ahead of it at one of its gates, and its own, with the first units of each. */
  readonly lanes: readonly LaneRow[];
  readonly heads: readonly HeadRow[];
  readonly sessions: readonly SessionRow[];
  readonly holders: readonly HolderRow[];
  /** Waiting units ahead of it, per lane of these. */
  readonly ahead: readonly { readonly lane: string; readonly asks: string; readonly units: number }[];
  /** Waiting units ahead of it at each of its gates, and in its queue: all of them, in whatever lane. */
  readonly aheadAt: Readonly<Record<string, number>>;
  readonly before: number;
}

export interface QueueRow {
  readonly name: string;
  readonly rank: number;
  readonly waiting: number;
  readonly running: number;
  readonly later: number;
}

export type LimitChange =
  | {
      readonly key: string;
      readonly to: "value";
      readonly limit: number;
      /** How long a claim on it lasts; as it was when absent. */
      readonly leaseMs?: number | undefined;
      readonly by: string;
    }
  | { readonly key: string; readonly to: "declared"; readonly by: string }
  | { readonly key: string; readonly to: "paused" | "resumed"; readonly by: string };

export interface Tended {
  readonly now: number;
  readonly promoted: number;
  readonly expired: number;
  /** When the next delayed unit is due, if any. */
  readonly nextDueAt: number | null;
  /** Gates that lanes are parked on, in order, 200 at most. */
  readonly parkedOn: readonly string[];
}

export interface Store extends RunVerbs, TriggerVerbs {
  readonly kind: "memory" | "sqlite" | "postgres" | "mysql";

  /** Brings the schema to the current version; does nothing when it is there. */
  migrate(): Promise<void>;
  /** Fails with SCHEMA_MISSING or SCHEMA_NEWER when the schema is not the one this code was written for. */
  verify(): Promise<void>;
  now(): Promise<number>;
  declare(declaration: Declaration): Promise<void>;

  /** Only inserts. `within` is the caller's own transaction where the store supports that. */
  enqueue(tasks: readonly NewTask[], within?: unknown): Promise<Enqueued[]>;
  /** The one locking verb: complete, look, decide, claim; all in one transaction. `decide` is synchronous. */
  pass(scope: Scope, decide: (view: View) => Moves): Promise<Passed>;
  /** Moves what became due, expires what is past its deadline; tells of parked gates whose name comes after this one. */
  tend(parkedAfter?: string): Promise<Tended>;
  cancel(id: string, by: string): Promise<{ readonly was: TaskState } | undefined>;
  /** Puts a finished task back in line. Undefined when there is none that is finished. */
  retry(id: string, by: string): Promise<{ readonly was: TaskState } | undefined>;
  changeLimit(change: LimitChange): Promise<{ readonly from: Limit; readonly limit: Limit } | undefined>;

  openSession(session: NewSession): Promise<void>;
  /** False when the session is gone: its claims may be somebody else's by now. */
  renewSession(id: string, leaseMs: number): Promise<boolean>;
  /** Ends a session; what it still held is lost and recovered by the next pass. */
  closeSession(id: string): Promise<void>;
  /** What the store says this session has claimed: read again after an answer was lost. */
  claimsOf(session: string): Promise<Claimed[]>;
  /** Renews the claims of a session that have a lease of their own and still have it; these are answered. */
  renewClaims(session: string): Promise<string[]>;
  /** Which of these claims are no longer theirs. */
  stale(claims: readonly { readonly id: string; readonly epoch: number }[]): Promise<string[]>;
  progress(entries: readonly { id: string; epoch: number; value: string }[]): Promise<void>;
  note(entries: readonly { id: string; epoch: number; kind: string; data: string }[]): Promise<void>;

  task(id: string): Promise<TaskRow | undefined>;
  tasks(filter: TaskFilter): Promise<TaskRow[]>;
  /** A full id for the beginning of one; more than one when it is ambiguous. */
  find(prefix: string): Promise<string[]>;
  wait(id: string): Promise<WaitView | undefined>;
  events(subject: string): Promise<EventRow[]>;
  gates(): Promise<(GateInfo & { readonly held: number })[]>;
  /** How many units wait in each lane, those included that no pass has seen yet. Counts them all. */
  waiting(): Promise<
    { readonly queue: string; readonly task: string; readonly asks: string; readonly units: number }[]
  >;
  /** The limits in force of these gates; a gate that does not exist yet is not listed. */
  limits(keys: readonly string[]): Promise<ReadonlyMap<string, Limit>>;
  queues(): Promise<QueueRow[]>;
  sessions(): Promise<(SessionRow & { readonly name: string; readonly expiresAt: number })[]>;
  /** Reads everything once and locks nothing: for a look now and then, not for a loop. */
  inspect(): Promise<Inspection>;

  /** Hints, never facts: somebody may want to look. Returns how to stop listening. */
  listen(hear: (hint: string) => void): Promise<() => Promise<void>>;
  hint(hint: string): void;
  close(): Promise<void>;
}
