/** How a child process ended, and what that means for its jobs and its starter. */
import { SluiceError } from "../../core/error.ts";
import { formatDuration } from "../../core/time.ts";
import type { Failed, StoredError } from "../executor.ts";

export interface Death {
  readonly pid: number | undefined;
  /** If this and `signal` are both null, the process could not even be started. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /**
   * Why we killed it, if we did: its code did not stop when told to, it did not answer although nothing ran
   * in it, it was still loading, or it closed its channel and stayed alive.
   */
  readonly killedFor: "deaf" | "silent" | "loading" | "unreachable" | undefined;
  /** The job for which we killed it, if it was a single one. */
  readonly overstayed?: Overstayed | undefined;
  /** The error it sent last: why it could not start, or an uncaught exception. */
  readonly lastWords: StoredError | undefined;
  /** How long it was ready. Undefined if it never was. */
  readonly readyMs: number | undefined;
  /** How many of its jobs had ended. */
  readonly jobsEnded: number;
}

/** A job whose code did not stop in time, so its process had to be killed. */
export interface Overstayed {
  readonly name: string;
  readonly id: string;
  /** Why it had to stop. */
  readonly reason: StoredError;
  /** How long it had to do so. */
  readonly graceMs: number;
}

/** 'task "hog" 01m7… in it did not stop within 5s of its timeout' */
export function sayOverstayed({ name, id, reason, graceMs }: Overstayed): string {
  const order =
    reason.code === "TIMEOUT" ? "its timeout" : reason.code === "CANCELLED" ? "its cancel" : "its abort";
  return `task "${name}" ${id} in it did not stop within ${formatDuration(graceMs)} of ${order}`;
}

/** "ended with exit code 1: TypeError: x is not a function" */
export function sayDeath({ exitCode, signal, lastWords, killedFor }: Death): string {
  if (killedFor === "unreachable")
    return "closed its channel to the worker and stayed alive, so the worker killed it";
  const how = signal
    ? `was killed by ${signal}${hint(signal)}`
    : exitCode === null
      ? "could not be started"
      : `ended with exit code ${exitCode}`;
  return lastWords ? `${how}: ${lastWords.name}: ${lastWords.message}` : how;
}

const sentence = (text: string): string => (text.endsWith(".") ? text : `${text}.`);

const hint = (signal: string): string =>
  signal === "SIGABRT" ? " (Node aborts like this when it runs out of memory)" : "";

/** The ending of a job that ran in it. */
export function endingOfLost(death: Death): Failed {
  // A process that dies of something else before our signal arrives has died, whatever we wanted.
  const { overstayed, signal } = death;
  return overstayed && signal === "SIGKILL" ? bystander(overstayed) : crashed(death);
}

function bystander(overstayed: Overstayed): Failed {
  const message = `Its process was ended, because ${sayOverstayed(overstayed)}.`;
  return {
    ok: false,
    bystander: true,
    error: { name: "SluiceError", code: "PROCESS_ENDED", message },
    retryable: true,
  };
}

function crashed(death: Death): Failed {
  const message = sentence(`The process that ran it ${sayDeath(death)}`);
  return {
    ok: false,
    crashed: true,
    error: { name: "SluiceError", code: "PROCESS_DIED", message },
    retryable: true,
  };
}

/** The error of a process that never became ready. */
export function notStarted(death: Death): SluiceError {
  const { lastWords } = death;
  const why = lastWords
    ? lastWords.message
    : `it ${sayDeath(death)} before it was ready. Read what it printed.`;
  return new SluiceError("PROCESS_NOT_STARTED", `A child process could not start: ${why}`, {
    details: { ...(lastWords ? { error: lastWords } : {}), exitCode: death.exitCode, signal: death.signal },
    ...(lastWords ? { cause: revived(lastWords) } : {}),
  });
}

function revived({ name, message, code, stack }: StoredError): Error {
  const error = Object.assign(new Error(message), { name, ...(code === undefined ? {} : { code }) });
  if (stack !== undefined) error.stack = stack;
  return error;
}
