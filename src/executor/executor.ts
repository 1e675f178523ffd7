/** The contract of every executor: whatever runs a task's body. */
import type { ClientCall } from "../core/task/client-call.ts";
import type { NextDue } from "../core/task/steering.ts";
import type { PodSpec } from "../core/workflow/graph.ts";

/** One attempt to run a task. */
export interface Job {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly input: string;
  readonly attempt: number;
  readonly fence: number;
  readonly timeoutMs: number | null;
  /**
   * The code must not start after this, on the clock of `performance.now()`. If it is too late, the job ends
   * with `begun: false`.
   */
  readonly beginBy?: number | undefined;
  /** The step of a run, if this job is one. */
  readonly step?: { readonly run: string; readonly name: string } | undefined;
  /** True if the code keeps a processor busy. */
  readonly cpu?: boolean | undefined;
  /** Set if the job runs in its own pod. */
  readonly pod?: PodSpec | undefined;
  /** Aborted when the lease is lost, the task is cancelled, or the worker must stop. */
  readonly signal: AbortSignal;
  /** The executor calls this when the code starts. Until then the job is claimed but not running. */
  begins?(): void;
  /** Asks the worker's store. Absent where there is no way to it. */
  call?(call: ClientCall): Promise<unknown>;
  progress(value: unknown): void;
  log(message: string, data?: unknown): void;
}

export interface StoredError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  /** The error that led to this one. */
  readonly cause?: StoredError;
  /** The first ten errors of an AggregateError. */
  readonly errors?: readonly StoredError[];
}

export type Ending = { readonly ok: true /** JSON text. */; readonly result: string } | Failed;

export interface Failed {
  readonly ok: false;
  readonly error: StoredError;
  readonly retryable: boolean;
  /** When the code wants its next attempt, if it says so. */
  readonly next?: NextDue;
  /** The process that ran it died, so the attempt is lost rather than failed. */
  readonly crashed?: true;
  /**
   * The worker itself ended the process, because other code in it did not stop. The attempt counts, but it is
   * no loss, and nothing has to rest before the next one.
   */
  readonly bystander?: true;
  /** False if the code never ran. */
  readonly begun?: false;
  /**
   * Set if the attempt has ended by its timeout while its code still runs. Resolves when that code has ended
   * or its process is gone.
   */
  readonly stopping?: Promise<void>;
}

export interface Executor {
  /**
   * Resolves when the code has ended or its process is gone, also after an abort. `Failed.stopping` is the
   * only exception.
   */
  run(job: Job): Promise<Ending>;
  /** Ends the remaining jobs by force, if the executor can. Then every job has ended when this resolves. */
  halt?(): Promise<void>;
  /** How many free places cannot start anything now. Work for them is better left to other workers. */
  blocked?(): number;
  /**
   * The jobs belong to this worker until then, by its monotonic clock. Code outside the worker's process must
   * stop by itself at that time.
   */
  trustedUntil?(monotonicMs: number): void;
}
