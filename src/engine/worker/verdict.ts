/** From how an attempt ended to what becomes of the task: its retry policy decides, or, if its process died, recovery. */
import { nextAttempt } from "../../core/task/retry.ts";
import type { Ending } from "../../executor/executor.ts";
import type { Claimed, Finished } from "../claiming/claims.ts";
import { revocation, storedOptions } from "../claiming/recovery.ts";

export interface Moment {
  /** The store's time. */
  readonly now: number;
  /** From [0, 1). */
  readonly random: number;
}

export function verdict(claim: Claimed, ending: Ending, { now, random }: Moment): Finished {
  const { id, epoch, attempt, goodUntil } = claim;
  if (ending.ok) return { id, epoch, to: "succeeded", body: ending.result, delayMs: 0 };
  if (ending.begun === false) return returned(claim);
  if (ending.crashed) return revocation(claim, ending.error, now);
  const body = JSON.stringify(ending.error);
  const { retry: policy } = storedOptions(claim.options);
  const next = nextAttempt({ policy, attempt, now, goodUntil, random });
  if (!ending.retryable || !next.retry) return { id, epoch, to: "failed", body, delayMs: 0 };
  return { id, epoch, to: "retry", body, delayMs: Math.max(0, Math.round(next.at - now)) };
}

/** A claim that was never begun goes back to its place, and no attempt is burnt. */
export const returned = ({ id, epoch }: Pick<Claimed, "id" | "epoch">): Finished => ({
  id,
  epoch,
  to: "returned",
  body: null,
  delayMs: 0,
});
