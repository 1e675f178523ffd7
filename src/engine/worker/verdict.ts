/**
 * Turns the end of an attempt into the next state of its task. The retry policy decides or, if the process
 * died, recovery. A process that the worker itself ended because of other code has not died in this sense: the
 * attempt counts, but a unit is not quarantined for its neighbours.
 */
import { SluiceError } from "../../core/error.ts";
import { nextAttempt } from "../../core/task/retry.ts";
import { storedOptions } from "../../core/unit-options.ts";
import type { Ending, Failed } from "../../executor/executor.ts";
import type { Claimed, Ended, Finished, Stopped } from "../claiming/claims.ts";
import { newsOfStep, revocation } from "../claiming/recovery.ts";

/** The abort reason for code of a worker that stops. */
export const STOPPED = new SluiceError("WORKER_STOPPED", "The worker stopped before the task was done.");

interface Moment {
  /** The store's time. */
  readonly now: number;
  /** From [0, 1). */
  readonly random: number;
  /**
   * Our own stop has aborted it. An attempt that ended for that reason has not failed and goes back to its
   * place in line.
   */
  readonly isStopped: boolean;
}

export function verdict(
  claim: Claimed,
  ending: Ending,
  { now, random, isStopped }: Moment,
): Exclude<Finished, Stopped> {
  const { id, epoch, attempt, goodUntil } = claim;
  if (storedOptions(claim.options).request)
    return ending.ok || ending.begun !== false ? gone(claim) : returned(claim);
  if (ending.ok)
    return { id, epoch, to: "succeeded", body: ending.result, delayMs: 0, news: newsOfStep(claim, true) };
  if (ending.begun === false || (isStopped && isAbort(ending))) return returned(claim);
  if (ending.crashed) return revocation(claim, ending.error, now);
  const body = JSON.stringify(ending.error);
  const stopping = ending.stopping ? ({ stopping: true } as const) : {};
  const { retry: policy } = storedOptions(claim.options);
  const due = ending.bystander ? { inMs: 0 } : ending.next;
  const next = nextAttempt({ policy, attempt, now, goodUntil, random, due });
  if (!ending.retryable || !next.retry)
    return { id, epoch, to: "failed", body, delayMs: 0, news: newsOfStep(claim, false), ...stopping };
  return { id, epoch, to: "retry", body, delayMs: Math.max(0, Math.round(next.at - now)), ...stopping };
}

/** Aborted code throws the reason of its signal, or the AbortError that Node makes of it. */
const isAbort = ({ error }: Failed): boolean => error.code === STOPPED.code || error.name === "AbortError";

/** A claim that never started goes back to its place in line and uses no attempt. */
export const returned = ({ id, epoch }: Pick<Claimed, "id" | "epoch">): Ended => ({
  id,
  epoch,
  to: "returned",
  body: null,
  delayMs: 0,
});

/** A request for a lock is over, however it ended: nobody waits for an outcome. */
const gone = ({ id, epoch }: Claimed): Ended => ({ id, epoch, to: "gone", body: null, delayMs: 0 });

/** The code of a claim that was taken away has ended or never started. */
export const stopped = ({ id, epoch }: Pick<Claimed, "id" | "epoch">): Stopped => ({
  id,
  epoch,
  to: "stopped",
});
