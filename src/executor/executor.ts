/** The contract of everything that runs a task's body. */
import type { PodSpec } from "../core/workflow/graph.ts";

/** One attempt to run. */
export interface Job {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly input: string;
  readonly attempt: number;
  readonly fence: number;
  readonly timeoutMs: number | null;
  /** Its code must not begin after this, on the clock of `performance.now()`; then it ends with `begun: false`. */
  readonly beginBy?: number | undefined;
  /** The step of a run that it is, if it is one. */
  readonly step?: { readonly run: string; readonly name: string } | undefined;
  /** Its code keeps a processor busy. */
  readonly cpu?: boolean | undefined;
  /** Where it runs in a pod of its own. */
  readonly pod?: PodSpec | undefined;
  /** Aborted when the lease is lost, the task is cancelled, or the worker must stop. */
  readonly signal: AbortSignal;
  /** To be called by the executor when its code begins: until then it is claimed, and does not run. */
  begins?(): void;
  progress(value: unknown): void;
  log(message: string, data?: unknown): void;
}

export interface StoredError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  /** What led to it. */
  readonly cause?: StoredError;
  /** The first ten of those it gathers. */
  readonly errors?: readonly StoredError[];
}

export type Ending = { readonly ok: true /** JSON text. */; readonly result: string } | Failed;

export interface Failed {
  readonly ok: false;
  readonly error: StoredError;
  readonly retryable: boolean;
  /** The process that ran it died: the attempt is lost rather than failed. */
  readonly crashed?: true;
  /** False when its code never ran. */
  readonly begun?: false;
  /** The attempt is over (its time is), but its code still runs: resolves when that has ended or its process is gone. */
  readonly stopping?: Promise<void>;
}

export interface Executor {
  /** Resolves when its code has ended or its process is gone, also after an abort; `Failed.stopping` is the one exception. */
  run(job: Job): Promise<Ending>;
  /** Ends what still runs by force, where that is possible: then each job has ended when this resolves. */
  halt?(): Promise<void>;
  /** How many of its free places cannot begin anything now: work for them is better left to others. */
  blocked?(): number;
  /** What runs is the worker's own until then, by its monotonic clock; code far from the worker must stop by itself. */
  trustedUntil?(monotonicMs: number): void;
}
