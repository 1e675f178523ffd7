/** Reads a pod's log, and from it how its attempt ended. */
import { sleep } from "../../env/timers.ts";
import type { Ending, Job, StoredError } from "../executor.ts";
import { storedError } from "../stored-error.ts";
import { error } from "./judge.ts";
import { LogTail } from "./log-tail.ts";
import type { PodPatience } from "./pacing.ts";
import { pauseAfter, persist } from "./pacing.ts";
import type { PodApi } from "./pod-api.ts";
import { ApiRefused } from "./request.ts";

interface PodPlace {
  readonly api: PodApi;
  readonly namespace: string;
  readonly name: string;
}

/** A log may lag a moment behind its pod's end. */
const LOOKS = 3;
/** A failed pod has failed with or without its log. */
const TRIES = 5;

/**
 * The result of a pod that succeeded. Asks until there is an answer, because without it the work would be
 * lost.
 */
export async function resultOf(place: PodPlace, job: Job, patience: PodPatience): Promise<Ending> {
  try {
    let tail = await persist(() => read(place, job), patience);
    for (let looks = 1; !tail.ending && looks < LOOKS; looks += 1) {
      await sleep(pauseAfter(looks, patience.pacing, Math.random()), patience.signal);
      tail = await persist(() => read(place, job), patience);
    }
    deliver(tail, job);
    return tail.ending ?? { ok: false, error: noResult(place, tail.isGarbled), retryable: true };
  } catch (refusal) {
    // The attempt was aborted while we were asking.
    if (patience.signal.aborted) return { ok: false, error: storedError(refusal), retryable: true };
    if (!(refusal instanceof ApiRefused)) throw refusal;
    if (refusal.status === 403) return { ok: false, error: storedError(refusal), retryable: true };
    const message = `Pod ${place.name} succeeded, but was deleted before its result could be read from its log.`;
    return { ok: false, crashed: true, error: error("RESULT_LOST", message), retryable: true };
  }
}

/** The pod's own report of why it failed, if its log can be read. */
export async function lastWords(
  place: PodPlace,
  job: Job,
  patience: PodPatience,
): Promise<Ending | undefined> {
  for (let tries = 1; tries <= TRIES && !patience.signal.aborted; tries += 1) {
    try {
      const tail = await read(place, job);
      deliver(tail, job);
      return tail.ending;
    } catch (reason) {
      if (reason instanceof ApiRefused) return undefined;
      await sleep(pauseAfter(tries, patience.pacing, Math.random()), patience.signal);
    }
  }
  return undefined;
}

async function read({ api, namespace, name }: PodPlace, { fence }: Job): Promise<LogTail> {
  const tail = new LogTail(fence);
  for await (const chunk of api.log(namespace, name)) tail.push(chunk);
  return tail.close();
}

function deliver({ lines, progress }: LogTail, job: Job): void {
  for (const { message, data } of lines) job.log(message, data);
  if (progress) job.progress(progress.value);
}

function noResult({ name }: PodPlace, isGarbled: boolean): StoredError {
  return isGarbled
    ? error("RESULT_CUT_OFF", `Pod ${name} succeeded, but the line of its log with the result is cut off.`)
    : error(
        "NO_RESULT",
        `Pod ${name} succeeded, but the end of its log has no result. Its command must run the step it is given, or print the line that docs/kubernetes.md describes.`,
      );
}
