/**
 * Rules for the steps of a workflow within their app. Their tasks and pools must exist, and no step may wait
 * for something that its own run holds, because it would wait forever.
 */

import type { AnyWorkflow } from "../workflow/definition.ts";
import { shapeProblems } from "../workflow/problems.ts";
import type { PlannedTask, StepPlan } from "../workflow/steps.ts";
import { poolsOf } from "./app-pools.ts";
import type { AppDefinition } from "./definition.ts";
import { eachProblems } from "./each.ts";
import { executorGateProblems } from "./executor-gates.ts";
import { executorProblems } from "./executors.ts";
import { EACH_FIELDS, mustKnowFields, STEP_FIELDS } from "./fields.ts";
import { heldProblems } from "./held.ts";
import { fixedLockProblems, lockProblems } from "./locks.ts";
import { unknownAmong } from "./near.ts";
import { askProblems } from "./pools.ts";
import { queueOfTask } from "./queues.ts";
import type { Problems } from "./rule.ts";
import { isRecord, mustBeBoolean, mustBeDuration, mustBeWhole } from "./rule.ts";
import { runStepProblems } from "./run-steps.ts";
import { retryProblems } from "./tasks.ts";
import { waitProblems } from "./waits.ts";

export function* stepProblems(name: string, workflow: AnyWorkflow, definition: AppDefinition): Problems {
  yield* planProblems(name, workflow.plan, definition);
  yield* heldProblems(name, workflow, definition);
  yield* executorGateProblems(name, workflow, definition);
}

function* planProblems(name: string, plan: StepPlan, definition: AppDefinition): Problems {
  for (const step of plan.steps) {
    const field = `${name}.steps.${step.name}`;
    if (step.kind === undefined) {
      yield* optionProblems(field, step, definition);
      yield* taskOfStep(field, step, definition);
      continue;
    }
    if (step.kind === "wait") {
      yield* waitProblems(field, step);
      continue;
    }
    yield* runStepProblems(field, step, definition);
    const { group } = step.calls;
    if (!group) continue;
    for (const problem of shapeProblems(group, "group"))
      yield { ...problem, field: `${field}.${problem.field}` };
    yield* planProblems(field, group, definition);
  }
}

function* optionProblems(field: string, { options, each }: PlannedTask, definition: AppDefinition): Problems {
  yield* mustKnowFields(`${field}.`, options, each ? EACH_FIELDS : STEP_FIELDS);
  if (each) yield* eachProblems(field, each);
  if (options.queue !== undefined) yield* queueOfTask(`${field}.queue`, options.queue, definition);
  const anyWhole = Number.NEGATIVE_INFINITY;
  yield* mustBeWhole(
    `${field}.priority`,
    options.priority,
    anyWhole,
    "Set it to a whole number; higher goes first",
  );
  yield* retryProblems(`${field}.retry`, options.retry);
  if (isRecord(options.retry) && "when" in options.retry)
    yield {
      field: `${field}.retry.when`,
      rule: "must be set on the task, because it runs where the task's code runs",
      cure: "Write it in the retry of the task; the step's own retry keeps it",
    };
  yield* mustBeDuration(`${field}.timeout`, options.timeout);
  yield* lockProblems(field, options);
  yield* mustBeBoolean(`${field}.mayFail`, options.mayFail, "Write true if the run may continue without it");
  yield* executorProblems(`${field}.executor`, options.executor);
  yield* askProblems(`${field}.pools`, options.pools, poolsOf(definition), "step");
}

function* taskOfStep(field: string, { task, options }: PlannedTask, { tasks }: AppDefinition): Problems {
  const ids = Array.isArray(tasks) ? tasks.filter(isRecord).map(({ id }) => String(id)) : [];
  if (!ids.includes(task.id))
    yield {
      field: `${field}.task`,
      rule: `there is no task "${task.id}" in this app${unknownAmong(task.id, ids)}`,
      cure: "Add it to tasks",
    };
  yield* fixedLockProblems(field, task, options);
  if (typeof task.pools === "function" ? !isRecord(options.pools) : typeof options.pools === "function")
    yield {
      field: `${field}.pools`,
      rule: `must be set on the step, because a step's asks are fixed before its input is known`,
      cure: "Write them in the step's options, like { pools: { database: 2 } }",
    };
}
