/** The options of a step, next to its input. */
import type { LockAsks } from "../gate/lock.ts";
import type { PoolAsks } from "../task/definition.ts";
import type { RetryOverrides } from "../task/retry.ts";
import type { Duration } from "../time.ts";
import type { ExecutorChoice } from "./executor.ts";
import type { StepEnding, StepEndings } from "./handle.ts";
import type { StepCondition } from "./when.ts";
import type { Wired } from "./wired.ts";

/** Overrides of the task's options, and when the step may start. */
export interface StepOptions extends StepOverrides {
  readonly after?: readonly (StepEndings | StepEnding)[];
  /** The step is skipped if this does not hold. */
  readonly when?: StepCondition;
}

/** Names of locks may refer to the input of the run and to outputs of earlier steps. */
export type StepLocks = LockAsks<Wired<string>>;

export interface StepOverrides {
  readonly queue?: string;
  readonly priority?: number;
  /** Replaces the task's pools. */
  readonly pools?: PoolAsks;
  /** Replaces the task's `retry`, except for its `when`. */
  readonly retry?: RetryOverrides;
  readonly timeout?: Duration;
  /** Held by each attempt, in addition to the locks of the task. */
  readonly mutexes?: StepLocks["mutexes"];
  readonly semaphores?: StepLocks["semaphores"];
  /** Its failure does not fail the run. */
  readonly mayFail?: boolean;
  readonly executor?: ExecutorChoice;
}
