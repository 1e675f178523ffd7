/// <reference types="node" preserve="true" />
/**
 * The public face. Our types use Node's, also in a project whose tsconfig does not name them. mysql2 asks npm to install
 * them beside us.
 */
export { defineApp } from "./api/app.ts";
export type {
  AcquireOptions,
  LockHandle,
  LockName,
  LockSettings,
  Mutex,
  SlotOptions,
  TryAcquireOptions,
} from "./api/code-locks.ts";
export { connect } from "./api/connect.ts";
export type { ConnectOptions } from "./api/connect-options.ts";
export { controllerConfigMap } from "./api/controller-config.ts";
export type { Explanation, Wait } from "./api/explain.ts";
export type { ChangeFeed, ChangeFilter, ChangeView } from "./api/feed.ts";
export type { LimitView } from "./api/limits.ts";
export type { Sluice } from "./api/sluice.ts";
export type { RunningWorker } from "./api/start-worker.ts";
export type { StoppingView } from "./api/stopping.ts";
export type { TaskView } from "./api/task-view.ts";
export type { WorkerSettings } from "./api/worker-settings.ts";
export type { App } from "./core/app/app.ts";
export type { AppDefinition, RunOptions, SemaphoreOptions, TagLimit } from "./core/app/definition.ts";
export { ConfigError, SluiceError } from "./core/error.ts";
export type { ErrorCode } from "./core/error-code.ts";
export { describe } from "./core/gate/describe.ts";
export type { LockAsks, MutexAsk, SemaphoreAsk } from "./core/gate/lock.ts";
export type { Holder, Reason } from "./core/gate/reason.ts";
export { remedies, remedy } from "./core/gate/remedy.ts";
export { callOf, type Remedy } from "./core/remedy.ts";
export {
  type AutomationDefinition,
  automation,
  type Fire,
  newer,
  type ScheduleDefinition,
  type SensorAnswer,
  type SensorDefinition,
  type SensorLook,
  schedule,
  sensor,
  succeeded,
} from "./core/schedule/definition.ts";
export { type TaskContext, type TaskDefinition, task } from "./core/task/definition.ts";
export type { EnqueueOptions } from "./core/task/enqueue-options.ts";
export type { Failure, FailureError } from "./core/task/failure.ts";
export { NonRetryable, RetryAfter } from "./core/task/steering.ts";
export {
  type AnyWorkflow,
  type RunInputOf,
  type RunOutputOf,
  type WorkflowDefinition,
  type WorkflowOptions,
  workflow,
} from "./core/workflow/definition.ts";
export type { EachOptions } from "./core/workflow/each.ts";
export { type EventDefinition, event } from "./core/workflow/event.ts";
export {
  type ExecutorChoice,
  inProcess,
  type KubernetesOptions,
  kubernetes,
  type ParallelOptions,
  parallel,
} from "./core/workflow/executor.ts";
export type { EachHandle, ItemError, Outcome, StepEnding, StepHandle } from "./core/workflow/handle.ts";
export { entries, type Gathered, zip } from "./core/workflow/items.ts";
export type { GroupOptions, RunStepOptions } from "./core/workflow/nested-options.ts";
export type { Reference } from "./core/workflow/reference.ts";
export type { SignalOptions } from "./core/workflow/signal-options.ts";
export type { StepOptions } from "./core/workflow/step-options.ts";
export type { Steps } from "./core/workflow/steps.ts";
export type { Approval, ApproveOptions, WaitForOptions } from "./core/workflow/waiting.ts";
export {
  all,
  any,
  equal,
  greater,
  less,
  not,
  type StepCondition,
  when,
} from "./core/workflow/when.ts";
export type { Permit } from "./engine/locks/permit.ts";
export type { WorkerEvent } from "./engine/worker/worker.ts";
export type { Store, TaskState } from "./store/store.ts";
