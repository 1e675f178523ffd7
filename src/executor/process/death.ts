/** How a child process ended, and what that means for its jobs and its starter. */
import { SluiceError } from "../../core/error.ts";
import type { Failed, StoredError } from "../executor.ts";

export interface Death {
  readonly pid: number | undefined;
  /** If this and `signal` are both null, the process could not even be started. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /**
   * Why we killed it, if we did: its code did not stop when told to, it did not answer although nothing ran
   * in it, or it was still loading.
   */
  readonly killedFor: "deaf" | "silent" | "loading" | undefined;
  /** The error it sent last: why it could not start, or an uncaught exception. */
  readonly lastWords: StoredError | undefined;
  /** How long it was ready. Undefined if it never was. */
  readonly readyMs: number | undefined;
  /** How many of its jobs had ended. */
  readonly jobsEnded: number;
}

/** "ended with exit code 1: TypeError: x is not a function" */
export function sayDeath({ exitCode, signal, lastWords }: Death): string {
  const how = signal
    ? `was killed by ${signal}${hint(signal)}`
    : exitCode === null
      ? "could not be started"
      : `ended with exit code ${exitCode}`;
  return lastWords ? `${how}: ${lastWords.name}: ${lastWords.message}` : how;
}

const sentence = (text: string): string => (text.endsWith(".") ? text : `${text}.`);

const hint = (signal: string): string =>
  signal === "SIGABRT" ? " (so Node ends when its memory is full)" : "";

/** The ending of a job that ran in it. */
export function crashed(death: Death): Failed {
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
