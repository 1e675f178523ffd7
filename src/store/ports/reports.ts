/** What a holder reports of a claim, and what recovery decides for a claim whose holder is gone. */

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
  /** Set for a step of a run: what to look at once it has ended. A report that comes too late is no news. */
  readonly news?: News | undefined;
  /** The attempt is over, but its code still runs. It keeps its slots until the code is reported as stopped. */
  readonly stopping?: true;
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
  /** Set for a step of a run: what to look at once it has ended. */
  readonly news?: News | undefined;
}

/**
 * The code of a claim that was taken away (cancelled, timed out) has ended, or never began here: its slots are free.
 * A second report, or one of a claim that holds nothing, changes nothing, so it is never refused.
 */
export interface Stopped {
  readonly id: string;
  readonly epoch: number;
  readonly to: "stopped";
  readonly news?: undefined;
}

export const isStopped = (finished: Finished): finished is Stopped => finished.to === "stopped";

/** Something to look at: a run, and the step of which an item did not succeed. */
export interface News {
  readonly run: string;
  readonly failed: string | null;
  /** No item of that step is to start any more: those in line end with the same transaction. */
  readonly stops?: true | undefined;
  /**
   * The lane of an item that succeeded. Where the same pass claims another unit of this lane, under a gate that it has
   * for itself, there is nothing to look at before that one has ended, and no news is left.
   */
  readonly lane?: string | undefined;
}
