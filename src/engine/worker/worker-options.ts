import type { Lease } from "./session-keeper.ts";
import type { WorkerEvent } from "./worker-event.ts";

export interface WorkerOptions {
  readonly slots: number;
  readonly lease: Lease;
  /** How long a stop may take altogether: tasks that run longer are aborted shortly before. */
  readonly graceMs: number;
  /** After how long the store is told that a task has begun, if it is not over by then. */
  readonly markAfterMs?: number;
  /** How long a claim may wait until its code begins: then it goes back in line. No bound when absent. */
  readonly claimLeaseMs?: number | undefined;
  /** The most that may be claimed and not begun; no bound when absent. */
  readonly mostClaimed?: number | undefined;
  /** Steps of runs have ended, and the store knows it. */
  readonly stepsEnded?: (() => void) | undefined;
  /** Told of what happens, for logs and tests. */
  readonly watch?: ((event: WorkerEvent) => void) | undefined;
}
