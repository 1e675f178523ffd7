/**
 * Units: they wait, run and end. A unit is in exactly one place, and that place is its state: `later`,
 * `waiting`, running (`claimed` until its code begins, then `running`) or an outcome. Each move is one
 * transaction.
 */
import type { EventKind } from "../../core/event.ts";
import type { LaneSpec } from "../lane.ts";

export interface UnitPort {
  /**
   * Only inserts. `within` is the caller's own transaction, for stores with the capability
   * `callerTransaction`.
   */
  enqueue(tasks: readonly NewTask[], within?: unknown): Promise<Enqueued[]>;
  task(id: string): Promise<TaskRow | undefined>;
  /** These tasks and runs, in no order. Missing ones are left out. */
  tasksById(ids: readonly string[]): Promise<TaskRow[]>;
  /** Newest first. */
  tasks(filter: TaskFilter): Promise<TaskRow[]>;
  /** The given tasks and runs that have ended or do not exist. */
  ended(ids: readonly string[]): Promise<readonly string[]>;
  /** The full ids that begin with this prefix. There is more than one if it is ambiguous. */
  find(prefix: string): Promise<string[]>;
  /** The history of a unit, a lane or a gate, oldest first and numbered without gaps. */
  events(subject: string): Promise<EventRow[]>;
}

export interface NewTask {
  readonly id: string;
  readonly name: string;
  readonly priority: number;
  readonly lane: LaneSpec;
  /** JSON text. */
  readonly input: string;
  /** JSON text of the options that a worker and recovery need: retry policy, timeout. */
  readonly options: string;
  readonly key: string | null;
  /** The earliest start: an instant, or a delay from the store's own now. */
  readonly runAt: number | null;
  readonly delayMs: number | null;
  /** The deadline for its start: an instant, or a span from the store's own now. */
  readonly goodUntil: number | null;
  readonly goodForMs: number | null;
}

export interface Enqueued {
  readonly id: string;
  /** False if a task with this idempotency key already existed; `id` is then the id of that task. */
  readonly created: boolean;
}

export type FinalState = "succeeded" | "failed" | "cancelled" | "expired" | "quarantined";

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
  /** For a unit in line or delayed: its place by time. Otherwise when it was claimed or finished. */
  readonly at: number;
  /**
   * Like `at`, except for a unit in line: when it joined the line. A unit that came back may have kept an
   * earlier place.
   */
  readonly since: number;
  readonly session: string | null;
  readonly epoch: number | null;
  readonly goodUntil: number | null;
  /** Whether its claim holds its slots. Such a claim waits for no gate, only for its code to begin. */
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
  readonly kind: EventKind;
  readonly at: number;
  readonly data: string | null;
}
