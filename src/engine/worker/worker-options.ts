import type { ClientCall } from "../../core/task/client-call.ts";
import type { Claimed } from "../claiming/claims.ts";
import type { Lease } from "./session-keeper.ts";
import type { WorkerEvent } from "./worker-event.ts";

/** A call of the client that a task's code has. */
export type AnswerCall = (claim: Claimed, call: ClientCall) => Promise<unknown>;

export interface WorkerOptions {
  readonly slots: number;
  readonly lease: Lease;
  /** How long the whole stop may take. Tasks that run longer are aborted shortly before its end. */
  readonly graceMs: number;
  /** After how long the store is told that a task has started, if it has not ended by then. */
  readonly markAfterMs?: number;
  /**
   * How long a claim may wait until its code starts. After that it goes back in line. Unbounded if absent.
   */
  readonly claimLeaseMs?: number | undefined;
  /** The most claims that may be waiting to start. Unbounded if absent. */
  readonly mostClaimed?: number | undefined;
  /** Called when steps of runs have ended and the store knows it. */
  readonly stepsEnded?: (() => void) | undefined;
  /** Answers what the code of a claim asks of the store. */
  readonly answer?: AnswerCall | undefined;
  /** Called with the worker's events, for logs and tests. */
  readonly watch?: ((event: WorkerEvent) => void) | undefined;
}
