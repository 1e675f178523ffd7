/**
 * The contract of every store, in domain verbs. A store remembers; it never decides: what may start is answered
 * by the function handed to `pass`, between the two flights of one transaction.
 *
 * Where a unit is, is its state: `waiting`, `later`, `running` (claimed or started) or `outcome`. Each move is one
 * transaction, so a unit is in exactly one of them. Every write by a holder names its epoch and changes nothing
 * when another epoch is current.
 */
import type { Said } from "../core/gate/declared.ts";
import type { Limit, Line } from "../core/gate/gate.ts";
import type { FeedVerbs } from "./feed.ts";
import type { Inspection } from "./inspection.ts";
import type { LaneSpec } from "./lane.ts";
import type { News, RunVerbs } from "./runs.ts";
import type { NewTrigger, TriggerVerbs } from "./triggers.ts";

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
  Standstill,
  StepMove,
  StepRow,
  StepSeen,
  StepState,
  Timer,
} from "./runs.ts";
export { RUNS } from "./runs.ts";
export type { TriggerRow } from "./triggers.ts";

// ── what goes in ───────────────────────────────────────────────────────────────────────────────────────────────

/**
 * All that an app says: it replaces what the same app said before, and touches nothing of other apps. Declared values
 * are initial ones: what an operator set stays.
 */
export interface Declaration {
  /** Whose it is; "default" when not said. */
  readonly app?: string;
  /** A rank of null says nothing of it. */
  readonly queues: readonly { readonly name: string; readonly rank: number | null }[];
  readonly gates: readonly DeclaredGate[];
  readonly triggers?: readonly NewTrigger[];
}

/**
 * `deploy` makes a declaration the one in force in any case. `start`, with which every worker begins, does not bring back
 * one that a later declaration of its app has replaced.
 */
export type Occasion = "deploy" | "start";

export interface Declared {
  /** False when a later declaration of this app holds, and nothing was changed. */
  readonly inForce: boolean;
  /** When the declaration in force became it. */
  readonly at: number;
}

/** A gate or queue that an app declared once; since the deploy at that time nobody declares it. */
export interface Replaced {
  readonly gate: string;
  readonly app: string;
  /** What it was; null where only the queue was named. */
  readonly limit: Limit;
  readonly at: number;
}

/** What an app says of one gate. */
export interface Saying extends Said {
  /** Of a queue. */
  readonly rank: number | null;
}

/** One app's word on a gate: since when it says so. The app "" stands for what was declared before apps had names. */
export interface AppSaying extends Omit<Saying, "line"> {
  readonly app: string;
  readonly at: number;
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

/** What a holder says of a claim that is over: how its attempt ended, that its code died, or that its code has stopped. */
export type Finished = Ended | Revoked | Stopped;

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
  /** The attempt is over, but its code still runs: what it holds is free when that is told to have stopped. */
  readonly stopping?: true;
}

/**
 * The code of a claim that was taken away (cancelled, timed out) has ended, or never began here: what it held is free.
 * Told twice, or of a claim that holds nothing, it changes nothing, so it is never refused.
 */
export interface Stopped {
  readonly id: string;
  readonly epoch: number;
  readonly to: "stopped";
  readonly news?: undefined;
}

export const isStopped = (finished: Finished): finished is Stopped => finished.to === "stopped";

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
  /** Gates whose parked lanes are wanted where there is room for them; locked by this pass, too. */
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

/** Units of a lane that a session holds, those included whose code is stopping. Those of lost holders are listed apart and count nowhere. */
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

/** `aside`: it could not be processed, and nobody looks at it until it is put back. */
export type LaneState = "idle" | "open" | "parked" | "aside";

/** A lane that was set aside, why, and how many of its units wait there. */
export interface AsideRow extends LaneSpec {
  readonly error: string;
  readonly at: number;
  readonly units: number;
}

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
  /** The lanes of the scope. */
  readonly lanes: readonly LaneRow[];
  /** Under skipLocked, few units or none do not prove that a lane is empty. */
  readonly heads: readonly HeadRow[];
  readonly prefetched: readonly PrefetchedRow[];
  readonly sessions: readonly SessionRow[];
  readonly lost: readonly LostRow[];
  /** Open lanes outside the scope, best first. */
  readonly beyond: readonly LaneRow[];
  /**
   * Lanes outside the scope that are parked on a gate of `unpark` that has room: of each queue the best of those it has
   * room for, no more than slots are free, and the first of those that ask for more, where a line keeps slots for them.
   */
  readonly parked?: readonly LaneRow[];
  /** The first of each such list that is not shown any more. */
  readonly hidden?: readonly LaneRow[];
}

export interface LaneMove {
  readonly lane: string;
  /** The move is dropped when somebody else changed the lane since it was read. */
  readonly stamp: number;
  readonly state: LaneState;
  readonly parked: string | null;
  /** What it asks of the gate that it is parked on; 1 unless said. */
  readonly slots?: number;
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
  /** Whether its claim has its slots: such a claim waits for no gate, only for its code to begin. */
  readonly holds: boolean;
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
  /** What it goes back to: the strictest of what apps declare for it, or what its kind is born with. */
  readonly declared: Limit;
  /** The limit in force is the one that its family has for each value. */
  readonly perValue: boolean;
  readonly setBy: string | null;
  readonly setAt: number | null;
}

/** A gate with what is held there, and with what each app says of it. */
export interface GateState extends GateInfo {
  readonly held: number;
  readonly said: readonly AppSaying[];
}

export interface HolderRow {
  readonly id: string;
  readonly name: string;
  readonly lane: string;
  readonly session: string;
  readonly since: number;
  readonly held: boolean;
  /** Its unit has moved on, and its code has not ended yet. */
  readonly stopping?: Stopping;
}

/** Since when code should have ended, and why: the state its unit came to, or its timeout. */
export interface Stopping {
  readonly since: number;
  readonly because: "timeout" | FinalState;
}

/** A claim whose unit has moved on while its code still runs, or a run of which that is true of a step. It holds what it held. */
export interface StoppingRow extends Stopping {
  readonly epoch: number;
  readonly id: string;
  readonly name: string;
  /** The run and the step that it is of, if it is one. */
  readonly run: string | null;
  readonly step: string | null;
  /** Of a step over a list: which of its items. */
  readonly item: number | null;
  readonly asks: string;
  readonly session: string;
  /** The name of its worker; null when that is gone. */
  readonly worker: string | null;
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
  /** Its lane was set aside. */
  readonly aside: { readonly id: string; readonly error: string; readonly at: number } | null;
  /** Waiting units ahead of it, per lane of these. */
  readonly ahead: readonly { readonly lane: string; readonly asks: string; readonly units: number }[];
  /** Waiting units ahead of it at each of its gates, and in its queue: all of them, in whatever lane. */
  readonly aheadAt: Readonly<Record<string, number>>;
  readonly before: number;
}

export interface QueueRow {
  readonly name: string;
  /** The first that an app says, or 100. */
  readonly rank: number;
  readonly ranks: readonly { readonly app: string; readonly rank: number }[];
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

/** Why a gate cannot be taken out of the store: apps that declare it, or units that wait for it or hold it. */
export interface GateKept {
  readonly apps: readonly string[];
  readonly isAsked: boolean;
}

export interface Tended {
  readonly now: number;
  readonly promoted: number;
  readonly expired: number;
  /** When the next delayed unit is due, if any. */
  readonly nextDueAt: number | null;
  /** Gates that lanes are parked on, in order, 200 at most. */
  readonly parkedOn: readonly string[];
}

export interface Store extends RunVerbs, TriggerVerbs, FeedVerbs {
  readonly kind: "memory" | "sqlite" | "postgres" | "mysql";

  /** Brings the schema to the current version; does nothing when it is there. */
  migrate(): Promise<void>;
  /** Fails with SCHEMA_MISSING or SCHEMA_NEWER when the schema is not the one this code was written for. */
  verify(): Promise<void>;
  now(): Promise<number>;
  declare(declaration: Declaration, occasion?: Occasion): Promise<Declared>;

  /** Only inserts. `within` is the caller's own transaction where the store supports that. */
  enqueue(tasks: readonly NewTask[], within?: unknown): Promise<Enqueued[]>;
  /** The one locking verb: complete, look, decide, claim; all in one transaction. `decide` is synchronous. */
  pass(scope: Scope, decide: (view: View) => Moves): Promise<Passed>;
  /** A pass that is undone at its end: whether it would fail. */
  probe(scope: Scope, decide: (view: View) => Moves): Promise<void>;
  /** Takes in what has arrived without a pass; lanes that cannot be taken in are set aside, and answered. */
  takeIn(): Promise<AsideRow[]>;
  /** From now on nobody looks at this lane. Its units keep their places. */
  setAside(lane: LaneSpec, error: string): Promise<void>;
  /** Puts a lane back that was set aside: itself, or that of a unit. Undefined when it was not. */
  restore(id: string, by: string): Promise<AsideRow | undefined>;
  /** Lanes that were set aside, the first 200. */
  asides(): Promise<AsideRow[]>;
  /** Moves what became due, expires what is past its deadline; tells of parked gates whose name comes after this one. */
  tend(parkedAfter?: string): Promise<Tended>;
  cancel(id: string, by: string): Promise<{ readonly was: TaskState } | undefined>;
  /** Puts a finished task back in line. Undefined when there is none that is finished. */
  retry(id: string, by: string): Promise<{ readonly was: TaskState } | undefined>;
  /** The limits that were and are in force there, its family's among them; undefined when there is no such gate to go back. */
  changeLimit(change: LimitChange): Promise<{ readonly from: Limit; readonly limit: Limit } | undefined>;
  /**
   * Takes a gate that nobody declares, asks for or holds out of the store, with its history: null when it is gone, or
   * who keeps it there. Undefined when there is no such gate.
   */
  deleteGate(key: string): Promise<GateKept | null | undefined>;
  /** What apps declared once and nobody declares any more. */
  replaced(): Promise<readonly Replaced[]>;

  openSession(session: NewSession): Promise<void>;
  /** False when the session is gone: its claims may be somebody else's by now. */
  renewSession(id: string, leaseMs: number): Promise<boolean>;
  /** Ends a session; what it still held is lost and recovered by the next pass. */
  closeSession(id: string): Promise<void>;
  /** What the store says this session has claimed: read again after an answer was lost. */
  claimsOf(session: string): Promise<Claimed[]>;
  /** Renews the claims of a session that have a lease of their own and still have it, those of stopping code too; their epochs are answered. */
  renewClaims(session: string): Promise<number[]>;
  /** Claims whose unit has moved on while their code still runs, oldest first: all of them, or those of one session. */
  stopping(session?: string): Promise<StoppingRow[]>;
  /** Which of these claims are no longer theirs. */
  stale(claims: readonly { readonly id: string; readonly epoch: number }[]): Promise<string[]>;
  progress(entries: readonly { id: string; epoch: number; value: string }[]): Promise<void>;
  note(entries: readonly { id: string; epoch: number; kind: string; data: string }[]): Promise<void>;

  task(id: string): Promise<TaskRow | undefined>;
  /** Which of these tasks and runs have ended, or are not there. */
  ended(ids: readonly string[]): Promise<readonly string[]>;
  tasks(filter: TaskFilter): Promise<TaskRow[]>;
  /** A full id for the beginning of one; more than one when it is ambiguous. */
  find(prefix: string): Promise<string[]>;
  wait(id: string): Promise<WaitView | undefined>;
  events(subject: string): Promise<EventRow[]>;
  gates(): Promise<GateState[]>;
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
