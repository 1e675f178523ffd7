/**
 * A workflow as it was written: its options, and the plan that its calls produced. A plan is plain data that never changes
 * again. A step can be a workflow itself, so both are defined together.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Lock, LockAsks } from "../gate/lock.ts";
import type { AnyTask, FailureHandler, PoolAsks } from "../task/definition.ts";
import type { Duration } from "../time.ts";
import type { Carrying } from "./carried.ts";
import type { Condition } from "./condition.ts";
import type { PlannedEach } from "./each.ts";
import type { ExecutorChoice } from "./executor.ts";
import type { Need } from "./graph.ts";
import type { StepHandle } from "./handle.ts";
import type { GroupOptions, RunStepOptions } from "./nested-options.ts";
import type { StepOverrides } from "./step-options.ts";
import type { Template } from "./template.ts";
import type { PlannedWait, WaitingOptions } from "./waiting.ts";
import type { Unwired } from "./wired.ts";

export interface WorkflowOptions {
  readonly id: string;
  /** The tags of every run. A submission may add more. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Higher priorities go first in the line of runs. The default is 0. */
  readonly priority?: number;
  /** How long a run may take once it has started. */
  readonly timeout?: Duration;
  /**
   * If true, nothing new starts after the first failure. Otherwise, branches that do not need the failed step
   * continue.
   */
  readonly failFast?: boolean;
  /** How many tasks of a run may run at once, those of its groups and child workflows included. */
  readonly parallelism?: number;
  readonly executor?: ExecutorChoice;
  /** Held by the run from its start to its end, like `pools`. A function gets the input of the run. */
  readonly mutexes?: LockAsks["mutexes"] | ((input: never) => LockAsks["mutexes"]);
  readonly semaphores?: LockAsks["semaphores"] | ((input: never) => LockAsks["semaphores"]);
  readonly pools?: PoolAsks;
  /**
   * A task of the same app. It is put in line with what failed, in the transaction in which a run fails.
   */
  readonly onFailure?: FailureHandler;
}

/** `Input` is the input of a run, `Output` its result. */
export interface WorkflowDefinition<Input, Output> extends WorkflowOptions, Carrying<Input, Output> {
  readonly input?: StandardSchemaV1<Input, unknown>;
  readonly plan: StepPlan;
}

// biome-ignore lint/suspicious/noExplicitAny: a list of workflows has no common input; each is checked by its own schema.
export type AnyWorkflow = WorkflowDefinition<any, any>;

export type RunInputOf<Workflow extends AnyWorkflow> =
  Workflow extends WorkflowDefinition<infer Input, infer _O> ? Input : never;
export type RunOutputOf<Workflow extends AnyWorkflow> =
  Workflow extends WorkflowDefinition<infer _I, infer Output> ? Output : never;

/** `steps` returns a value with references, or a step, which stands for its output. */
export type ResultOf<Returned> = Returned extends StepHandle<infer Output> ? Output : Unwired<Returned>;

export interface StepPlan {
  readonly steps: readonly PlannedStep[];
  readonly output: Template;
}

/** A step, by what it does. */
export type PlannedStep = PlannedTask | PlannedRun | PlannedWaitStep;

interface AnyPlanned {
  readonly name: string;
  /** For a step over a list: the input of each item. */
  readonly input: Template;
  readonly each: PlannedEach | null;
  readonly needs: readonly Need[];
  readonly when: Condition | null;
  /** The locks among its options. Wrong ones are left out; the app check reports them. */
  readonly locks?: readonly Lock<Template>[];
}

export interface PlannedTask extends AnyPlanned {
  readonly kind?: undefined;
  readonly task: AnyTask;
  /** As written; the app check validates them. */
  readonly options: StepOverrides;
}

/** A workflow or a group as a step. */
export interface PlannedRun extends AnyPlanned {
  readonly kind: "run";
  readonly calls: PlannedCall;
  readonly options: Omit<RunStepOptions & GroupOptions, "after" | "when">;
}

export interface PlannedWaitStep extends AnyPlanned {
  readonly kind: "wait";
  readonly each: null;
  readonly wait: PlannedWait;
  readonly otherwise?: Template;
  /** As written; the app check validates them. */
  readonly options: Pick<WaitingOptions, "mayFail">;
}

export type PlannedCall =
  | { readonly workflow: () => AnyWorkflow; readonly group?: undefined }
  | { readonly group: StepPlan; readonly workflow?: undefined };

/** All steps of a plan that call a task, at any depth of its groups. */
export function tasksIn({ steps }: StepPlan): PlannedTask[] {
  return steps.flatMap((step) => {
    if (step.kind === undefined) return [step];
    return step.kind === "run" && step.calls.group ? tasksIn(step.calls.group) : [];
  });
}

/** All steps of a plan that wait, at any depth of its groups. */
export function waitsIn({ steps }: StepPlan): PlannedWaitStep[] {
  return steps.flatMap((step) => {
    if (step.kind === "wait") return [step];
    return step.kind === "run" && step.calls.group ? waitsIn(step.calls.group) : [];
  });
}
