/**
 * Runs: what a store remembers of them. A run is a unit like a task: it waits in the line of the queue `@runs`, asks the gates
 * `runs` and `tag:…`, and its claim is what holds them. So its place is its state:
 *
 *   waiting, later → queued · running, not started → notStarted · running, started → started · outcome → the rest
 *
 * Its claim belongs to a session of its own that never ends (`RUNS`), because a run ends with its last step and not with
 * the process that let it in. A claim that nobody starts within its lease, the start timeout, is lost like any other.
 *
 * Steps are tasks that know their run. Whatever ends a step, admits a run or asks for a look leaves a row of news in the
 * same transaction; `advance` reads the news, locks the runs, and writes what has to follow. News that is lost with a
 * process is found by the next one.
 *
 * A run that has ended while code of its steps is still stopping holds what it held, as that code does: its claim is a
 * row of `stopping` until the last of its units has stopped.
 */
import type { Advance, Advanced, Results, RunSeen } from "./advancing.ts";
import type { ItemRow, Standstill, StepMove, StepRow } from "./steps.ts";
import type { Enqueued, NewTask } from "./units.ts";

/** The queue of runs, and the session that holds those in progress. No queue of an app can have this name. */
export const RUNS = "@runs";

export interface RunPort {
  /** Like `enqueue`: only inserts, and a second one with the same key is the first. */
  submit(runs: readonly NewRun[], within?: unknown): Promise<Enqueued[]>;
  /** Takes some news, locks its runs, and writes what `decide` says; all in one transaction. `decide` is synchronous, and called again when it asked to read. */
  advance(decide: (runs: readonly RunSeen[], results: Results) => Advance): Promise<Advanced>;
  /** Exactly one of cancel, dequeue and finish wins. Undefined when there is no such run. */
  cancelRun(
    id: string,
    by: string,
    /** Leaves alone what was let in. */
    only?: "queued",
  ): Promise<{ readonly was: RunState } | undefined>;
  /** Ends a run in progress as failed. False when it is not in progress. */
  failRun(id: string, error: string): Promise<boolean>;
  /** None of its steps starts from now on, or again. False when it is not in progress. */
  pauseRun(id: string, paused: boolean, by: string): Promise<boolean>;
  /** Ends a unit that waits. False when it does not wait any more. */
  failWaiting(id: string, error: string): Promise<boolean>;
  /** Timers that have run out, and when the next one does. */
  timers(): Promise<{ readonly due: readonly Timer[]; readonly nextAt: number | null; readonly now: number }>;
  /** Lets a timer run again from now, or with null forgets it. */
  resetTimer(timer: Timer, afterMs: number | null): Promise<void>;

  /** Whether there is news, and whether a run stands in line: for a look before a look. */
  stirring(): Promise<{ readonly news: boolean; readonly queued: boolean }>;
  run(id: string): Promise<RunDetail | undefined>;
  runs(filter: RunFilter): Promise<RunRow[]>;
  /** Items of a step by their places, from `after` on. */
  items(
    run: string,
    step: string,
    page: { readonly after: number; readonly limit: number },
  ): Promise<ItemRow[]>;
  /** Undefined when no step has its items in this lane. */
  standstill(lane: string): Promise<Standstill | undefined>;
  /** Runs that are put off, the first to come first: `limit` of them behind the first `offset`. */
  laterRuns(limit: number, offset: number): Promise<RunRow[]>;
}

/** A run to be queued, or with `direct` to be in progress at once, past the run gates and counted at them. */
export interface NewRun extends NewTask {
  readonly direct: boolean;
  /** JSON text of core's Graph; stored once per content. */
  readonly graph: string;
  /** JSON text of an object: key to value. */
  readonly tags: string;
  /** Who submitted it: "code", "cli", "schedule nightly", … */
  readonly source: string;
  /** The run whose finished steps it takes over. */
  readonly rerunOf: string | null;
  /** Steps that need not run again: what is true of them, and the unit that has their result. */
  readonly steps: readonly StepMove[];
}

export type RunState = "queued" | "notStarted" | "started" | "succeeded" | "failed" | "cancelled";

export interface RunRow {
  readonly id: string;
  readonly workflow: string;
  readonly state: RunState;
  readonly paused: boolean;
  /** Its place in line has a time, and it has not come. */
  readonly later: boolean;
  readonly priority: number;
  readonly tags: string;
  readonly source: string;
  readonly rerunOf: string | null;
  readonly input: string;
  readonly key: string | null;
  readonly createdAt: number;
  /** When it stands in line from, when it was let in, when its first steps were put in line, when it ended. */
  readonly queuedAt: number;
  readonly dequeuedAt: number | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** JSON text: the result, or what went wrong. */
  readonly body: string | null;
}

export interface RunFilter {
  readonly state?: RunState | undefined;
  readonly workflow?: string | undefined;
  /** "key" or "key=value". */
  readonly tag?: string | undefined;
  readonly before?: string | undefined;
  /** These alone. */
  readonly ids?: readonly string[] | undefined;
  readonly limit: number;
}

export interface RunDetail {
  readonly run: RunRow;
  readonly graph: string;
  readonly steps: readonly StepRow[];
}

/** A wait that has become too long, a list that stands still (`id` is its lane), or a run that takes too long. */
export interface Timer {
  readonly id: string;
  readonly kind: "claim" | "items" | "run";
  readonly at: number;
}
