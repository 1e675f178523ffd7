/** The reports of a holder about its claims, and the decisions of recovery about lost claims. */
import type { NewTask } from "./units.ts";

/**
 * A holder's report about a claim that is over: how its attempt ended, that its code died, or that its code
 * has stopped.
 */
export type Finished = Ended | Revoked | Stopped;

/** How an attempt ended. */
export interface Ended {
  readonly id: string;
  readonly epoch: number;
  /**
   * `retry` waits for `delayMs`. `returned` goes back to its place without having used an attempt. `gone`: a
   * request for a lock is over and leaves nothing behind.
   */
  readonly to: "succeeded" | "failed" | "retry" | "returned" | "gone";
  /** JSON text: the result, or the error. */
  readonly body: string | null;
  readonly delayMs: number;
  /**
   * For a step of a run: the news to leave once the step has ended. A report that comes too late leaves none.
   */
  readonly news?: News | undefined;
  /**
   * The attempt is over, but its code still runs. It keeps its slots until the code is reported as stopped.
   */
  readonly stopping?: true;
  /** The task that handles a failure. It is put in line if the report is accepted. */
  readonly handler?: NewTask | undefined;
}

export interface Recovery {
  readonly id: string;
  readonly epoch: number;
  readonly to: "waiting" | "retry" | "failed" | "quarantined" | "expired" | "gone";
  readonly body: string | null;
  /** The task that handles a failure. It is put in line in the same transaction. */
  readonly handler?: NewTask | undefined;
}

/**
 * The process that ran it died, and the holder saw it. It is recovered like a lost claim, without waiting for
 * a lease.
 */
export interface Revoked extends Recovery {
  readonly revoked: true;
  /** For a step of a run: the news to leave once the step has ended. */
  readonly news?: News | undefined;
}

/**
 * The code of a claim that was taken away (cancelled, timed out) has ended or never began here: its slots are
 * free. A second report, or one about a claim that holds nothing, changes nothing, so it is never refused.
 */
export interface Stopped {
  readonly id: string;
  readonly epoch: number;
  readonly to: "stopped";
  readonly news?: undefined;
}

export const isStopped = (finished: Finished): finished is Stopped => finished.to === "stopped";

/** News of a run, and the step with an item that did not succeed. */
export interface News {
  readonly run: string;
  readonly failed: string | null;
  /**
   * What may no longer start: the other items of that step, or the other steps of the run, except those that handle
   * failures. Units in line end in the same transaction.
   */
  readonly stops?: "items" | "run" | undefined;
  /**
   * The lane of an item that succeeded. If the same pass claims another unit of this lane, under a gate that
   * the pass has locked exclusively, no news is left: there is nothing to look at until that unit has ended.
   */
  readonly lane?: string | undefined;
}
