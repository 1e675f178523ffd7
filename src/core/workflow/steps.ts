/** The argument of a workflow's `steps`. A step can only name steps that were made before it, so a plan has no cycles. */
import type { AnyTask, InputOf, OutputOf } from "../task/definition.ts";
import type { EachArguments, EachOptions } from "./each.ts";
import type { EachHandle, StepHandle } from "./handle.ts";
import type { GivenItems, ItemOf } from "./items.ts";
import type { DetachedOptions, GroupOptions, RunEachOptions, RunStepOptions } from "./nested-options.ts";
import type { AnyWorkflow, ResultOf, RunInputOf, RunOutputOf } from "./plan.ts";
import type { Reference } from "./reference.ts";
import type { StepOptions } from "./step-options.ts";
import type { WaitingSteps } from "./waiting.ts";
import type { AsJson, Wired } from "./wired.ts";

export type { PlannedRun, PlannedStep, PlannedTask, PlannedWaitStep, StepPlan } from "./plan.ts";
export { tasksIn, waitsIn } from "./plan.ts";

/** A workflow, or a function that returns it. A workflow that calls itself is only known once it has been built. */
type Called<Workflow extends AnyWorkflow> = Workflow | (() => Workflow);

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
   * A text with references, like s.text`deploy-${input.env}`. It can be used wherever a text is wanted. It has no value
   * if one of its references has none, or is a list or an object.
   */
  text(strings: TemplateStringsArray, ...holes: readonly Wired<TextPart>[]): Reference<string>;

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

type TextPart = string | number | boolean | null | undefined;

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

/** The input is optional for a workflow that takes none. */
type RunArguments<Workflow extends AnyWorkflow, Options = RunStepOptions> =
  undefined extends RunInputOf<Workflow>
    ? [input?: Wired<RunInputOf<Workflow>> | undefined, options?: Options]
    : // biome-ignore lint/suspicious/noConfusingVoidType: such an input has the type void; undefined is a value.
      void extends RunInputOf<Workflow>
      ? [input?: undefined, options?: Options]
      : [input: Wired<RunInputOf<Workflow>>, options?: Options];
