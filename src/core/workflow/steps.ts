/**
 * The argument of a workflow's `steps`, and the plan that its calls produce. A plan is plain data that never
 * changes again. A step can only name steps that were made before it, so a plan has no cycles.
 */
import type { AnyTask, InputOf, OutputOf } from "../task/definition.ts";
import type { Condition } from "./condition.ts";
import type { EachArguments, PlannedEach } from "./each.ts";
import type { Need } from "./graph.ts";
import type { EachHandle, StepHandle } from "./handle.ts";
import type { GivenItems, ItemOf } from "./items.ts";
import type { StepOptions, StepOverrides } from "./step-options.ts";
import type { Template } from "./template.ts";
import type { PlannedWait, WaitingOptions, WaitingSteps } from "./waiting.ts";
import type { AsJson, Wired } from "./wired.ts";

export interface Steps extends WaitingSteps {
  /**
   * A step that calls a task. It starts as soon as every step it refers to or comes after has ended as
   * required.
   */
  step<Task extends AnyTask>(
    name: string,
    task: Task,
    ...rest: StepArguments<InputOf<Task>>
  ): StepHandle<AsJson<OutputOf<Task>>>;

  /**
   * A step that calls a task for each item of a list, `concurrency` of them at once. It succeeds if all items
   * do.
   */
  each<const Given extends GivenItems, Task extends AnyTask>(
    name: string,
    items: Given,
    task: Task,
    ...rest: EachArguments<ItemOf<Given>, Task>
  ): EachHandle<AsJson<OutputOf<Task>>>;
}

/** The input is optional for a task that takes none. */
type StepArguments<Input> = undefined extends Input
  ? [input?: Wired<Input> | undefined, options?: StepOptions]
  : [input: Wired<Input>, options?: StepOptions];

export interface StepPlan {
  readonly steps: readonly PlannedStep[];
  readonly output: Template;
}

/** A step, by what it does. */
export type PlannedStep = PlannedTaskStep | PlannedWaitStep;

interface AnyPlannedStep {
  readonly name: string;
  /** For a step over a list: the input of each item. */
  readonly input: Template;
  readonly each: PlannedEach | null;
  readonly needs: readonly Need[];
  readonly when: Condition | null;
}

export interface PlannedTaskStep extends AnyPlannedStep {
  readonly kind?: undefined;
  readonly task: AnyTask;
  /** As written; the app check validates them. */
  readonly options: StepOverrides;
}

export interface PlannedWaitStep extends AnyPlannedStep {
  readonly kind: "wait";
  readonly each: null;
  readonly wait: PlannedWait;
  readonly otherwise?: Template;
  /** As written; the app check validates them. */
  readonly options: Pick<WaitingOptions, "mayFail">;
}
