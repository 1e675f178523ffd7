/**
 * The argument of a workflow's `steps`, and the plan that its calls produce. A plan is plain data that never
 * changes again. A step can only name steps that were made before it, so a plan has no cycles.
 */
import type { AnyTask, InputOf, OutputOf } from "../task/definition.ts";
import type { Condition } from "./condition.ts";
import type { AnyWorkflow, ResultOf, RunInputOf, RunOutputOf } from "./definition.ts";
import type { EachArguments, EachOptions, PlannedEach } from "./each.ts";
import type { Need } from "./graph.ts";
import type { EachHandle, StepHandle } from "./handle.ts";
import type { GivenItems, ItemOf } from "./items.ts";
import type {
  DetachedOptions,
  GroupOptions,
  RunArguments,
  RunEachOptions,
  RunStepOptions,
} from "./nested-options.ts";
import type { StepOptions, StepOverrides } from "./step-options.ts";
import type { Template } from "./template.ts";
import type { AsJson, Wired } from "./wired.ts";

/** A workflow, or a function that returns it. A workflow that calls itself is only known once it has been built. */
export type Called<Workflow extends AnyWorkflow> = Workflow | (() => Workflow);

export interface Steps {
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
   * do. With a workflow, each item is a run of it, which belongs to this run.
   */
  each<const Given extends GivenItems, Each extends AnyTask | Called<AnyWorkflow>>(
    name: string,
    items: Given,
    called: Each,
    ...rest: EachArguments<ItemOf<Given>, CalledInput<Each>, OptionsOf<Each, ItemOf<Given>>>
  ): EachHandle<CalledOutput<Each>>;

  /** A step that submits a run of its own and goes on. It returns the ID of that run. */
  run<Workflow extends AnyWorkflow>(
    name: string,
    workflow: Called<Workflow>,
    input: Wired<RunInputOf<Workflow>>,
    options: RunStepOptions & { readonly detached: DetachedOptions & { readonly wait: false } },
  ): StepHandle<{ id: string }>;

  /**
   * A step that calls a workflow. Its run belongs to this one: it is cancelled, paused and run again with it, and asks
   * neither the run cap nor tags.
   */
  run<Workflow extends AnyWorkflow>(
    name: string,
    workflow: Called<Workflow>,
    ...rest: RunArguments<Workflow>
  ): StepHandle<RunOutputOf<Workflow>>;

  /**
   * Steps under one node. The group starts when everything is there that its steps refer to outside of it. Its output
   * is what the function returns; the rest of the workflow sees nothing else of it.
   */
  group<Returned>(name: string, steps: (g: Steps) => Returned): StepHandle<ResultOf<Returned>>;
  group<Returned>(
    name: string,
    options: GroupOptions,
    steps: (g: Steps) => Returned,
  ): StepHandle<ResultOf<Returned>>;
}

type WorkflowIn<Each> = Each extends AnyWorkflow
  ? Each
  : Each extends () => infer Workflow
    ? Extract<Workflow, AnyWorkflow>
    : never;

type CalledInput<Each> = Each extends AnyTask ? InputOf<Each> : RunInputOf<WorkflowIn<Each>>;
type CalledOutput<Each> = Each extends AnyTask ? AsJson<OutputOf<Each>> : RunOutputOf<WorkflowIn<Each>>;
type OptionsOf<Each, Item> = Each extends AnyTask
  ? EachOptions<Item, InputOf<Each>>
  : RunEachOptions<Item, CalledInput<Each>>;

/** The input is optional for a task that takes none. */
type StepArguments<Input> = undefined extends Input
  ? [input?: Wired<Input> | undefined, options?: StepOptions]
  : [input: Wired<Input>, options?: StepOptions];

export interface StepPlan {
  readonly steps: readonly PlannedStep[];
  readonly output: Template;
}

export type PlannedStep = PlannedTask | PlannedRun;

interface AnyPlanned {
  readonly name: string;
  /** For a step over a list: the input of each item. */
  readonly input: Template;
  readonly each: PlannedEach | null;
  readonly needs: readonly Need[];
  readonly when: Condition | null;
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

export type PlannedCall =
  | { readonly workflow: () => AnyWorkflow; readonly group?: undefined }
  | { readonly group: StepPlan; readonly workflow?: undefined };

/** All steps of a plan that call a task, at any depth of its groups. */
export function tasksIn({ steps }: StepPlan): PlannedTask[] {
  return steps.flatMap((step) => {
    if (step.kind === undefined) return [step];
    return step.calls.group ? tasksIn(step.calls.group) : [];
  });
}
