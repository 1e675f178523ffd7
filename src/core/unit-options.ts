/**
 * What a unit keeps in its `options`: everything that its worker, its recovery and its run need to know and that no query
 * asks for. It is written and read here and nowhere else. What cannot be read counts as not said, so that one spoilt row
 * stops nobody.
 */
import type { RetryPolicy } from "./task/retry.ts";
import { retryPolicy } from "./task/retry.ts";
import type { PodSpec } from "./workflow/graph.ts";

/** Of a task, by itself or as a step. */
interface OptionsOfTask {
  readonly retry: RetryPolicy;
  readonly timeoutMs: number | null;
  /** The step it is, if it is one. */
  readonly step?: StepOf;
  /** Its code keeps a processor busy: it runs in a pool of processes where there is one. */
  readonly cpu?: boolean;
  readonly pod?: PodSpec;
}

interface StepOf {
  readonly run: string;
  readonly name: string;
  /** An item of a list. */
  readonly each?: true;
  /** One that keeps the others from starting if it fails. */
  readonly stops?: true;
}

/** Of a run. */
interface OptionsOfRun {
  /** How long a run that was let in may wait for somebody to start it. */
  readonly startTimeoutMs: number;
  /** What becomes of one that nobody started in time. */
  readonly onStartTimeout?: "requeue" | "fail";
  /** It is done again and takes over nothing. Said only where it is so. */
  readonly fromNothing?: true;
}

/** Either kind, as a reader that does not know which one it has in hand gets it. */
type StoredOptions = OptionsOfTask & OptionsOfRun;

export const optionsOfTask = (options: OptionsOfTask): string => JSON.stringify(options);
export const optionsOfRun = (options: OptionsOfRun): string => JSON.stringify(options);

/** For a run that says nothing, as one of an earlier version. */
const START_TIMEOUT_MS = 180_000;

const read = new Map<string, StoredOptions>();
const MOST_REMEMBERED = 1_000;

/** Read at the start and at the end of every attempt, and the same for all units of a task: read once. */
export function storedOptions(text: string): StoredOptions {
  const known = read.get(text);
  if (known) return known;
  const options = withDefaults(parsed(text));
  if (read.size > MOST_REMEMBERED) read.clear();
  read.set(text, options);
  return options;
}

const withDefaults = (said: Partial<StoredOptions>): StoredOptions => ({
  ...said,
  retry: said.retry ?? retryPolicy(undefined),
  timeoutMs: said.timeoutMs ?? null,
  startTimeoutMs: said.startTimeoutMs ?? START_TIMEOUT_MS,
});

function parsed(text: string): Partial<StoredOptions> {
  try {
    const value: unknown = JSON.parse(text);
    return isOptions(value) ? value : {};
  } catch {
    return {};
  }
}

/** Only what is written above can be in there, unless somebody spoilt the row. */
function isOptions(value: unknown): value is Partial<StoredOptions> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
