/** The contract of everything that runs a task's body. */

/** One attempt to run. */
export interface Job {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly input: string;
  readonly attempt: number;
  readonly fence: number;
  readonly timeoutMs: number | null;
  /** Aborted when the lease is lost, the task is cancelled, or the worker must stop. */
  readonly signal: AbortSignal;
  progress(value: unknown): void;
  log(message: string, data?: unknown): void;
}

export interface StoredError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
}

export type Ending =
  | { readonly ok: true /** JSON text. */; readonly result: string }
  | {
      readonly ok: false;
      readonly error: StoredError;
      readonly retryable: boolean;
      /** Its process died under it: how far it came is not known, and it may not have been its doing. */
      readonly crashed?: true;
    };

export interface Executor {
  run(job: Job): Promise<Ending>;
}
