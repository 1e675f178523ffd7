/**
 * `workflow({ … })`: a graph of steps with the types of their outputs. `steps` is called here, once; what it built is kept
 * as a plan. Whether that makes sense in an app is checked with the app.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { PoolAsks } from "../task/definition.ts";
import type { Duration } from "../time.ts";
import { Build } from "./build.ts";
import type { ExecutorChoice } from "./executor.ts";
import type { StepHandle } from "./handle.ts";
import type { Reference } from "./reference.ts";
import type { StepPlan, Steps } from "./steps.ts";
import type { AsJson, Unwired } from "./wired.ts";

export interface WorkflowOptions {
  readonly id: string;
  /** Of every run; a submission may add to them. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Higher first, in the line of runs; 0 unless said otherwise. */
  readonly priority?: number;
  /** How long a run may take once it has started. */
  readonly timeout?: Duration;
  /** After the first failure nothing new starts. Without it, branches that do not need the failed step go on. */
  readonly failFast?: boolean;
  readonly executor?: ExecutorChoice;
  /** Held by the run from its start to its end, and so are `pools`. */
  readonly mutexes?: readonly string[];
  readonly pools?: PoolAsks;
}

declare const carries: unique symbol;

/** `Input` is what a run is submitted with, `Output` what it comes to. */
export interface WorkflowDefinition<Input, Output> extends WorkflowOptions {
  readonly input?: StandardSchemaV1<Input, unknown>;
  readonly plan: StepPlan;
  readonly [carries]?: { readonly input: Input; readonly output: Output };
}

// biome-ignore lint/suspicious/noExplicitAny: a list of workflows has no common input; each is checked by its own schema.
export type AnyWorkflow = WorkflowDefinition<any, any>;

export type RunInputOf<Workflow extends AnyWorkflow> =
  Workflow extends WorkflowDefinition<infer Input, infer _O> ? Input : never;
export type RunOutputOf<Workflow extends AnyWorkflow> =
  Workflow extends WorkflowDefinition<infer _I, infer Output> ? Output : never;

/** What `steps` returned is a value with references, or a step that stands for its output. */
type ResultOf<Returned> = Returned extends StepHandle<infer Output> ? Output : Unwired<Returned>;

/** With a schema, `input` stands for what the schema makes of a run's input. */
export function workflow<Input, Parsed, Returned>(
  definition: WorkflowOptions & {
    readonly input: StandardSchemaV1<Input, Parsed>;
    steps(s: Steps, input: Reference<AsJson<Parsed>>): Returned;
  },
): WorkflowDefinition<Input, ResultOf<Returned>>;
/** Without one, a run's input is what `steps` says it refers to; `void` when it refers to none. */
export function workflow<Returned, Input = void>(
  definition: WorkflowOptions & {
    readonly input?: never;
    steps(s: Steps, input: Reference<Input>): Returned;
  },
): WorkflowDefinition<Input, ResultOf<Returned>>;
export function workflow({ steps, ...options }: { readonly id: string; steps: unknown }): AnyWorkflow {
  // Something else than a function is one of the problems that are all told at once, with the app.
  const plan = typeof steps === "function" ? new Build(options.id).plan(steps as never) : undefined;
  return Object.freeze({ ...options, plan }) as AnyWorkflow;
}
