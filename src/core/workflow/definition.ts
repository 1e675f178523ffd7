/**
 * `workflow({ … })` defines a graph of steps with the types of their outputs. `steps` is called here, once,
 * and the result is kept as a plan. The app check decides whether the plan is valid within the app.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { FailureHandler, PoolAsks } from "../task/definition.ts";
import type { Duration } from "../time.ts";
import { Build } from "./build.ts";
import type { Carrying } from "./carried.ts";
import type { ExecutorChoice } from "./executor.ts";
import type { StepHandle } from "./handle.ts";
import type { Reference } from "./reference.ts";
import type { StepPlan, Steps } from "./steps.ts";
import type { AsJson, Unwired } from "./wired.ts";

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
  /** Held by the run from its start to its end, like `pools`. */
  readonly mutexes?: readonly string[];
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

/** With a schema, `input` stands for the value that the schema makes of a run's input. */
export function workflow<Input, Parsed, Returned>(
  definition: WorkflowOptions & {
    readonly input: StandardSchemaV1<Input, Parsed>;
    steps(s: Steps, input: Reference<AsJson<Parsed>>): Returned;
  },
): WorkflowDefinition<Input, ResultOf<Returned>>;
/**
 * Without a schema, a run's input type is that of the `input` parameter of `steps`, or `void` if it takes
 * none.
 */
export function workflow<Returned, Input = void>(
  definition: WorkflowOptions & {
    readonly input?: never;
    steps(s: Steps, input: Reference<Input>): Returned;
  },
): WorkflowDefinition<Input, ResultOf<Returned>>;
export function workflow({ steps, ...options }: { readonly id: string; steps: unknown }): AnyWorkflow {
  // If `steps` is not a function, the app check reports that together with all other problems.
  const plan = typeof steps === "function" ? Build.ofWorkflow(options.id).plan(steps as never) : undefined;
  return Object.freeze({ ...options, plan }) as AnyWorkflow;
}
