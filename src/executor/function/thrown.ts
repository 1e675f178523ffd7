/**
 * What the code's error means for the next attempt. This runs where the code runs, so `retry.when` gets the
 * error itself, and not the copy that is stored.
 */
import type { AnyTask } from "../../core/task/definition.ts";
import { nextDueOf } from "../../core/task/steering.ts";
import type { Failed, Job } from "../executor.ts";
import { partOf, storedError } from "../stored-error.ts";

export async function thrownBy(task: AnyTask, job: Job, thrown: unknown): Promise<Failed> {
  const failed = { ok: false, error: storedError(thrown), retryable: true } as const;
  if (partOf(thrown, "retryable") === false) return { ...failed, retryable: false };
  const next = nextDueOf(partOf(thrown, "retryAfter"));
  if (next) return { ...failed, next };
  return { ...failed, retryable: await isWorthRetrying(task, job, thrown) };
}

/** A `when` that itself fails does not decide: the attempts do. */
async function isWorthRetrying(task: AnyTask, job: Job, thrown: unknown): Promise<boolean> {
  const { when } = task.retry ?? {};
  if (!when) return true;
  try {
    return (await when(thrown)) !== false;
  } catch (error) {
    job.log("retry.when failed, so it does not decide", { error: storedError(error).message });
    return true;
  }
}
