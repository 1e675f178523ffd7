/**
 * What `steps` of a workflow is given, and what its calls leave behind: a plan, plain data that is read once and never
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
import type { AsJson, Wired } from "./wired.ts";

export interface Steps {
  /** A step that calls a task. It starts as soon as every step it refers to or comes after has ended as it should. */
  step<Task extends AnyTask>(
    name: string,
    task: Task,
    ...rest: StepArguments<InputOf<Task>>
  ): StepHandle<AsJson<OutputOf<Task>>>;

  /** A step that calls a task for each item of a list, `concurrency` of them at once. It succeeds when all have. */
  each<const Given extends GivenItems, Task extends AnyTask>(
    name: string,
    items: Given,
    task: Task,
    ...rest: EachArguments<ItemOf<Given>, Task>
  ): EachHandle<AsJson<OutputOf<Task>>>;
}

/** A task that takes nothing needs to be given nothing. */
type StepArguments<Input> = undefined extends Input
  ? [input?: Wired<Input> | undefined, options?: StepOptions]
  : [input: Wired<Input>, options?: StepOptions];

export interface StepPlan {
  readonly steps: readonly PlannedStep[];
  readonly output: Template;
}

export interface PlannedStep {
  readonly name: string;
  readonly task: AnyTask;
  /** Of a step over a list: what each item is given. */
  readonly input: Template;
  readonly each: PlannedEach | null;
  readonly needs: readonly Need[];
  readonly when: Condition | null;
  /** As they were written: checked with the app. */
  readonly options: StepOverrides;
}
