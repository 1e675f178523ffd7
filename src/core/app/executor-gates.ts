/**
 * A run has one gate per kind of executor, with one limit. Its groups share these gates, and so do the workflows below
 * it that choose no executor themselves.
 */
import type { AnyTask } from "../task/definition.ts";
import type { AnyWorkflow } from "../workflow/definition.ts";
import type { ExecutorChoice } from "../workflow/executor.ts";
import { gateOf, parallel } from "../workflow/executor.ts";
import type { StepPlan } from "../workflow/steps.ts";
import type { AppDefinition } from "./definition.ts";
import { EXECUTOR_FIELDS } from "./fields.ts";
import type { Problems } from "./rule.ts";
import { isRecord } from "./rule.ts";
import { workflowOf } from "./run-steps.ts";

/** A step that asks for a gate of the run, with its path below the run and the workflow that it is written in. */
interface Asking {
  readonly field: string;
  readonly within: StepPlan;
  readonly step: string;
  readonly task: AnyTask;
  readonly executor: ExecutorChoice | undefined;
}

export function* executorGateProblems(
  name: string,
  workflow: AnyWorkflow,
  { executor: ofApp }: AppDefinition,
): Problems {
  const first = new Map<string, { asking: Asking; limit: number | "cpus" }>();
  for (const asking of askingIn(name, workflow.plan, workflow.plan, new Set([workflow.plan]))) {
    const choice = asking.executor ?? workflow.executor ?? ofApp ?? parallel();
    if (!isChoice(choice)) continue;
    const gate = gateOf(choice, asking.task);
    const known = first.get(gate.name);
    if (!known) first.set(gate.name, { asking, limit: gate.limit });
    else if (known.limit !== gate.limit && isNew(asking, known.asking, workflow))
      yield {
        field: `${asking.field}.executor`,
        rule: `limits "${gate.name}" to ${sayLimit(gate.limit)}, but step "${known.asking.step}" limits it to ${sayLimit(known.limit)}, and a run has it once`,
        cure: "Give both the same limit, or leave the choice to the workflow",
      };
  }
}

/** Two steps of one nested workflow are reported with that workflow. */
const isNew = (a: Asking, b: Asking, { plan }: AnyWorkflow): boolean =>
  a.within === plan || a.within !== b.within;

function* askingIn(name: string, plan: StepPlan, within: StepPlan, seen: Set<StepPlan>): Generator<Asking> {
  for (const step of plan.steps) {
    const field = `${name}.steps.${step.name}`;
    if (step.kind === undefined) {
      const { task, options } = step;
      yield { field, within, step: step.name, task, executor: options.executor };
      continue;
    }
    if (step.kind === "wait") continue;
    if (step.calls.group) yield* askingIn(field, step.calls.group, within, seen);
    const nested = workflowOf(step);
    if (!nested || nested.executor !== undefined || step.options.detached || seen.has(nested.plan)) continue;
    seen.add(nested.plan);
    yield* askingIn(field, nested.plan, nested.plan, seen);
  }
}

function isChoice(choice: unknown): choice is ExecutorChoice {
  return isRecord(choice) && Object.hasOwn(EXECUTOR_FIELDS, String(choice.kind));
}

function sayLimit(limit: number | "cpus"): string {
  if (limit === "cpus") return "the number of CPUs";
  return limit < 0 ? "no number" : String(limit);
}
