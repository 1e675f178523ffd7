/**
 * `workflow({ … })` defines a graph of steps with the types of their outputs. `steps` is called here, once,
 * and the result is kept as a plan. The app check decides whether the plan is valid within the app.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { FailureHandler } from "../task/definition.ts";
import { Build } from "./build.ts";
import type { AnyWorkflow, ResultOf, WorkflowDefinition, WorkflowOptions } from "./plan.ts";
import type { Reference } from "./reference.ts";
import type { Steps } from "./steps.ts";
import type { AsJson } from "./wired.ts";

export type {
  AnyWorkflow,
  RunInputOf,
  RunOutputOf,
  WorkflowDefinition,
  WorkflowOptions,
} from "./plan.ts";

/** With a schema, `input` stands for the value that the schema makes of a run's input. */
export function workflow<Input, Parsed, Returned>(
  definition: WorkflowOptions & {
    readonly input: StandardSchemaV1<Input, Parsed>;
    readonly onFailure?: FailureHandler<NoInfer<Parsed>>;
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
    readonly onFailure?: FailureHandler<NoInfer<Input>>;
    steps(s: Steps, input: Reference<Input>): Returned;
  },
): WorkflowDefinition<Input, ResultOf<Returned>>;
export function workflow({ steps, ...options }: { readonly id: string; steps: unknown }): AnyWorkflow {
  // If `steps` is not a function, the app check reports that together with all other problems.
  const plan = typeof steps === "function" ? Build.ofWorkflow(options.id).plan(steps as never) : undefined;
  return Object.freeze({ ...options, plan }) as AnyWorkflow;
}
