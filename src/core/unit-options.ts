/**
 * The contents of a unit's `options`: everything that its worker, its recovery and its run need to know and
 * that no query asks for. Options are written and read only here. Unreadable options count as absent, so that
 * one damaged row stops nothing else.
 */
import type { StoredAsk } from "./gate/asks.ts";
import type { StoredLocks } from "./shared/asks.ts";
import type { RetryPolicy } from "./task/retry.ts";
import { retryPolicy } from "./task/retry.ts";
import type { StoredHandler } from "./task/stored-handler.ts";
import type { PodSpec } from "./workflow/graph.ts";

/** The options of a task, on its own or as a step. */
export interface OptionsOfTask {
  readonly retry: RetryPolicy;
  readonly timeoutMs: number | null;
  /** The step that it is, if any. */
  readonly step?: StepOf;
  /** Its code keeps a processor busy, so it runs in a pool of processes if there is one. */
  readonly cpu?: boolean;
  readonly pod?: PodSpec;
  /** The task that handles its failure. */
  readonly onFailure?: StoredHandler;
}

export interface StepOf {
  /**
   * True if it may start after a failure in a run with `failFast`. It comes first, because a store looks for it in the
   * text of the options (`HANDLES_FAILURE`).
   */
  readonly handles?: true;
  readonly run: string;
  readonly name: string;
  /** True for an item of a list. */
  readonly each?: true;
  /** True if its failure keeps the other items from starting. */
  readonly stops?: true;
  /** True if its failure keeps the other steps of its run from starting. */
  readonly failsFast?: true;
}

/** What a child run has from the runs above it. */
export interface Nesting {
  /** The run at the top of its tree. */
  readonly root: string;
  /** The run whose gates for executors its steps ask for. */
  readonly owner: string;
  /** How many workflows are above it. A group adds none. */
  readonly depth: number;
  /** The gates of runs above it that limit all tasks below them. */
  readonly leaves: readonly string[];
  /** Its path below the root, like `ship[3]/checks`. */
  readonly path: string;
}

/** The options of a run. */
interface OptionsOfRun {
  /** How long an admitted run may wait to be started. */
  readonly startTimeoutMs: number;
  /** What happens to a run that was not started in time. */
  readonly onStartTimeout?: "requeue" | "fail";
  /** True if the run is repeated from the start and takes over no results. Otherwise absent. */
  readonly fromNothing?: true;
  /** True if the run gives its slots back while its open steps only wait. Otherwise absent. */
  readonly releases?: true;
  /** Only for a run that a step has started: that step. */
  readonly step?: StepOf;
  /** The locks that this run holds, and those of the runs that wait for it. Absent if there are none. */
  readonly holds?: readonly StoredAsk[];
  /** Only for a child run, and not for a run of its own. */
  readonly scope?: Nesting;
  /** Only for a run that a step has started: how long it may take once it has started. */
  readonly timeoutMs?: number | null;
  readonly onFailure?: StoredHandler;
  /** The locks that it shares with other engines: name and slots. Such a run asks for its gate `shared:ID`. */
  readonly shared?: StoredLocks;
}

/** The options of a request for a lock: only that it is one. */
interface OptionsOfRequest {
  readonly request?: true;
}

/** The options of any kind, for readers that do not know which kind they have. */
type StoredOptions = OptionsOfTask & OptionsOfRun & OptionsOfRequest;

/** The part of the options' text that only a step with `handles` has. */
export const HANDLES_FAILURE = '"step":{"handles":true';

export const optionsOfTask = (options: OptionsOfTask): string => JSON.stringify(options);
export const optionsOfRequest = (): string => JSON.stringify({ request: true } satisfies OptionsOfRequest);
export const optionsOfRun = (options: OptionsOfRun): string => JSON.stringify(options);

/** For a run without this option, such as one of an earlier version. */
const START_TIMEOUT_MS = 180_000;

const read = new Map<string, StoredOptions>();
const MOST_REMEMBERED = 1_000;

/**
 * The text is parsed once and remembered: it is read at the start and end of every attempt, and all units of
 * a task share it.
 */
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

/** The fields are trusted: only this file writes them, unless a row was damaged. */
function isOptions(value: unknown): value is Partial<StoredOptions> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
