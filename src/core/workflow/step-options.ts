/** What the author of a workflow may say about a step beside its input. */
import type { PoolAsks } from "../task/definition.ts";
import type { RetryOptions } from "../task/retry.ts";
import type { Duration } from "../time.ts";
import type { ExecutorChoice } from "./executor.ts";
import type { StepEnding, StepEndings } from "./handle.ts";
import type { StepCondition } from "./when.ts";

/** What a step says differently from its task, and when it may start. */
export interface StepOptions extends StepOverrides {
  readonly after?: readonly (StepEndings | StepEnding)[];
  /** Skipped where this does not hold. */
  readonly when?: StepCondition;
}

export interface StepOverrides {
  readonly queue?: string;
  readonly priority?: number;
  /** Instead of the task's. */
  readonly pools?: PoolAsks;
  readonly retry?: RetryOptions;
  readonly timeout?: Duration;
  readonly mutexes?: readonly string[];
  /** Its failure is no failure of the run. */
  readonly mayFail?: boolean;
  readonly executor?: ExecutorChoice;
}
