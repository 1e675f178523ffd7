/**
 * Runs: what a store remembers about them. A run is a unit like a task: it waits in the line of the queue
 * `@runs`, asks the gates `runs` and `tag:…`, and its claim holds them. So its place is its state:
 *
 * - waiting or later: queued
 * - running, but not started: notStarted
 * - running and started: started
 * - outcome: the rest
 *
 * Its claim belongs to a session of its own that never ends (`RUNS`), because a run ends with its last step
 * and not with the process that admitted it. A claim that is not started within its lease, the start timeout,
 * is lost like any other.
 *
 * Steps are tasks that know their run. A transaction that ends a step, admits a run or asks for a look also
 * writes a row of news. `advance` reads the news, locks the runs, and writes what has to follow. If a process
 * dies, the next one finds its news.
 *
 * A run that has ended while code of its steps is still stopping keeps its slots, as that code does: its
 * claim is a row of `stopping` until the last of its units has stopped.
 */
import type { Advanced, DecideRuns } from "./advancing.ts";
import type { WaitView } from "./lines.ts";
import type { SessionRow } from "./sessions.ts";
import type { ItemRow, Standstill, StepMove, StepRow } from "./steps.ts";
import type { Enqueued, NewTask } from "./units.ts";

/** The queue of runs, and the session that holds runs in progress. No queue of an app can have this name. */
export const RUNS = "@runs";

/**
 * The queue of child runs. It has the lowest rank, so that queued runs never hide the children of runs in progress. Its
 * claims belong to the session `RUNS`, too.
 */
export const NESTED = "@nested";

/** The queues whose units are runs. */
export const RUN_QUEUES: readonly string[] = [RUNS, NESTED];
export const isRunQueue = (queue: string | null | undefined): boolean => queue === RUNS || queue === NESTED;

export interface RunPort {
  /** Like `enqueue`, it only inserts. A second submission with the same key returns the first run. */
  submit(runs: readonly NewRun[], within?: unknown): Promise<Enqueued[]>;
  /**
   * Takes some news, locks its runs, and writes what `decide` returns, all in one transaction. `decide` is
   * synchronous, and is called again after each read it asked for. At most `most` bytes of inputs and graphs
   * are read, but at least one run; the news of the other runs stays.
   */
  advance(decide: DecideRuns, most?: number): Promise<Advanced>;
  /** Exactly one of cancel, dequeue and finish wins. Undefined if there is no such run. */
  cancelRun(
    id: string,
    by: string,
    /** Leaves the run alone if it was already admitted. */
    only?: "queued",
  ): Promise<{ readonly was: RunState } | undefined>;
  /**
   * Ends a run in progress as failed, and puts the task in line that handles its failure. False if it is not
   * in progress.
   */
  failRun(id: string, error: string, handler?: NewTask): Promise<boolean>;
  /** While paused, none of the run's steps starts. False if the run is not in progress. */
  pauseRun(id: string, paused: boolean, by: string): Promise<boolean>;
  /** The same for a waiting unit. False if it no longer waits. */
  failWaiting(id: string, error: string, handler?: NewTask): Promise<boolean>;
  /** Timers that have expired, and when the next one expires. */
  timers(): Promise<{ readonly due: readonly Timer[]; readonly nextAt: number | null; readonly now: number }>;
  /** Restarts a timer from now; null deletes it. */
  resetTimer(timer: Timer, afterMs: number | null): Promise<void>;

  /** Whether there is news, and whether a run is in line: a cheap check before `advance` or a pass. */
  stirring(): Promise<{ readonly news: boolean; readonly queued: boolean }>;
  run(id: string): Promise<RunDetail | undefined>;
  /** A run and the waits of at most `most` of its steps, all of it read at one instant. */
  runWaits(id: string, most: number): Promise<RunWaits | undefined>;
  runs(filter: RunFilter): Promise<RunRow[]>;
  /** Items of a step, sorted by their place in the list, starting after `after`. */
  items(
    run: string,
    step: string,
    page: { readonly after: number; readonly limit: number },
  ): Promise<ItemRow[]>;
  /** Undefined if no step has its items in this lane. */
  standstill(lane: string): Promise<Standstill | undefined>;
  /** Delayed runs, soonest first: `limit` of them after the first `offset`. */
  laterRuns(limit: number, offset: number): Promise<RunRow[]>;
}

/** A run to put in line. With `direct` it is in progress at once, past the run gates but counted at them. */
export interface NewRun extends NewTask {
  readonly direct: boolean;
  /** JSON text of core's Graph. Equal graphs are stored once. */
  readonly graph: string;
  /** The same for everything below it: number 1 is the first. */
  readonly nested?: readonly string[];
  /** JSON text of an object: keys and values. */
  readonly tags: string;
  /** The submitter: "code", "cli", "schedule nightly", … */
  readonly source: string;
  /** The default is "default". */
  readonly namespace?: string;
  /** The run whose finished steps it takes over. */
  readonly rerunOf: string | null;
  /** Steps that need not run again: their state, and the unit that has their result. */
  readonly steps: readonly StepMove[];
}

export type RunState = "queued" | "notStarted" | "started" | "succeeded" | "failed" | "cancelled";

export interface RunRow {
  readonly id: string;
  readonly workflow: string;
  readonly state: RunState;
  readonly paused: boolean;
  /** Its place in line has a time that has not come yet. */
  readonly later: boolean;
  readonly priority: number;
  readonly tags: string;
  readonly source: string;
  readonly namespace: string;
  readonly rerunOf: string | null;
  /** The run at the top of its tree, for a child run. Null for a run of its own. */
  readonly root: string | null;
  /** The run that hears of its end: the run that it is a step of. */
  readonly parent: string | null;
  /** How many runs are above it. */
  readonly depth: number;
  /** The step of its parent that it is, and its place in that step's list. */
  readonly step: string | null;
  readonly item: number | null;
  readonly input: string;
  readonly key: string | null;
  readonly createdAt: number;
  /**
   * When it joined the line, when it was admitted, when its first steps were put in line, and when it ended.
   */
  readonly queuedAt: number;
  readonly dequeuedAt: number | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** JSON text: the result, or the error. */
  readonly body: string | null;
}

export interface RunFilter {
  readonly state?: RunState | undefined;
  readonly workflow?: string | undefined;
  /** "key" or "key=value". */
  readonly tag?: string | undefined;
  readonly namespace?: string | undefined;
  readonly before?: string | undefined;
  /** Only these runs, child runs included. */
  readonly ids?: readonly string[] | undefined;
  /** Only the runs below this one, which is at the top of a tree: in the order in which they were made. */
  readonly root?: string | undefined;
  /** With `root`: only runs after this one. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface RunDetail {
  readonly run: RunRow;
  readonly graph: string;
  readonly steps: readonly StepRow[];
}

export interface RunWaits extends RunDetail {
  readonly now: number;
  readonly sessions: readonly SessionRow[];
  /**
   * The waits of its open steps. For a step over a list it is the wait of the item that comes next: the first
   * item in line or, if none is in line, the delayed item that is due first.
   */
  readonly waits: readonly {
    readonly step: string;
    readonly item: number | null;
    readonly view: WaitView;
  }[];
}

/**
 * A wait for slots that takes too long (`claim`), a list that makes no progress (`items`; `id` is its lane), a
 * run that takes too long (`run`), or a step that waits for a time, or no longer than that (`wait`).
 */
export interface Timer {
  readonly id: string;
  readonly kind: "claim" | "items" | "run" | "wait";
  readonly at: number;
}
