/**
 * The options of steps that are runs: a workflow called as a step, and a group of steps. Such a step has no queue, no
 * executor and no retries, because it is not code.
 */
import type { PoolAsks } from "../task/definition.ts";
import type { Duration } from "../time.ts";
import type { EachOptions } from "./each.ts";
import type { StepLocks, StepOptions } from "./step-options.ts";

type When = Pick<StepOptions, "after" | "when">;

/** The options of a step that calls a workflow. */
export interface RunStepOptions extends When, RunStepOverrides {
  /**
   * Starts a run of its own, which waits in the line of runs with its own tags. It is not cancelled with this run. The
   * step ends when that run ends or, with `wait: false`, once it is in line.
   */
  readonly detached?: boolean | DetachedOptions;
}

export interface DetachedOptions {
  readonly wait?: boolean;
  /** Added to the tags of the workflow. */
  readonly tags?: Readonly<Record<string, string>>;
}

/** What a run holds from its start to its end, and how it counts in the run that it belongs to. */
interface RunStepOverrides {
  readonly priority?: number;
  /** Held in addition to the pools and locks of the workflow. */
  readonly pools?: PoolAsks;
  readonly mutexes?: StepLocks["mutexes"];
  readonly semaphores?: StepLocks["semaphores"];
  /** How long it may take once it has started. Replaces the workflow's `timeout`. */
  readonly timeout?: Duration;
  /** Its failure does not fail the run. */
  readonly mayFail?: boolean;
}

/** The options of a group. */
export interface GroupOptions extends When, RunStepOverrides {
  /** How many of its direct steps run at once. A nested group or workflow counts as one. */
  readonly parallelism?: number;
  /** If true, nothing new starts in the group after the first failure in it. */
  readonly failFast?: boolean;
}

/** The options of a workflow per item. */
export type RunEachOptions<Item = never, Input = unknown> = When &
  RunStepOverrides &
  Pick<EachOptions<Item, Input>, "concurrency" | "onFailure" | "input">;
