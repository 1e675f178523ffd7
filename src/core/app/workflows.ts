/** Rules for each workflow, alone and next to the others. */

import type { AnyWorkflow } from "../workflow/definition.ts";
import { shapeProblems } from "../workflow/problems.ts";
import type { AppDefinition } from "./definition.ts";
import { executorProblems } from "./executors.ts";
import { mustKnowFields, WORKFLOW_FIELDS } from "./fields.ts";
import { handlerProblems } from "./handlers.ts";
import { computedOr } from "./locks.ts";
import { askProblems } from "./pools.ts";
import type { Problems } from "./rule.ts";
import {
  isRecord,
  mustBeBoolean,
  mustBeDuration,
  mustBeName,
  mustBeSchema,
  mustBeWhole,
  shown,
} from "./rule.ts";
import { mustBeParallelism } from "./run-steps.ts";
import { stepProblems } from "./steps.ts";
import { tagProblems } from "./tags.ts";
import { sharedEventProblems } from "./waits.ts";

export function* workflowProblems(definition: AppDefinition): Problems {
  const workflows: unknown = definition.workflows ?? [];
  if (!Array.isArray(workflows)) {
    yield {
      field: "workflows",
      rule: `must be a list, but is ${shown(workflows)}`,
      cure: "Write it like [nightly]",
    };
    return;
  }
  const owners = new Map<unknown, string>(taskIds(definition).map((id, index) => [id, `tasks[${index}]`]));
  for (const [index, workflow] of workflows.entries()) {
    const place = `workflows[${index}]`;
    if (!isRecord(workflow) || !("plan" in workflow)) {
      const rule = `must be a workflow, but is ${shown(workflow)}`;
      yield { field: place, rule, cure: "Make it with workflow({ … })" };
      continue;
    }
    const { id } = workflow;
    yield* mustBeName(`${place}.id`, id, "a workflow's id");
    const owner = owners.get(id);
    if (owner === undefined) owners.set(id, place);
    else
      yield {
        field: `${place}.id`,
        rule: `"${id}" is already the id of ${owner}`,
        cure: "Give each task and each workflow its own id, and list it once",
      };
    const name = typeof id === "string" && id !== "" ? `workflows.${id}` : place;
    yield* oneWorkflow(name, workflow, definition);
  }
  yield* sharedEventProblems(
    workflows
      .filter((workflow) => isRecord(workflow) && isRecord(workflow.plan))
      .map((workflow: AnyWorkflow) => [`workflows.${workflow.id}`, workflow]),
  );
}

function taskIds({ tasks }: AppDefinition): unknown[] {
  return Array.isArray(tasks) ? tasks.map((task: unknown) => (isRecord(task) ? task.id : undefined)) : [];
}

function* oneWorkflow(
  name: string,
  { plan, ...workflow }: Readonly<Record<string, unknown>>,
  definition: AppDefinition,
): Problems {
  yield* mustKnowFields(`${name}.`, workflow, WORKFLOW_FIELDS);
  yield* mustBeSchema(`${name}.input`, workflow.input);
  yield* tagProblems(`${name}.tags`, workflow.tags);
  const anyWhole = Number.NEGATIVE_INFINITY;
  yield* mustBeWhole(
    `${name}.priority`,
    workflow.priority,
    anyWhole,
    "Set it to a whole number; higher goes first",
  );
  yield* mustBeDuration(`${name}.timeout`, workflow.timeout);
  yield* mustBeBoolean(`${name}.failFast`, workflow.failFast, "Write true to start nothing after a failure");
  yield* mustBeParallelism(`${name}.parallelism`, workflow.parallelism);
  yield* executorProblems(`${name}.executor`, workflow.executor);
  yield* computedOr(name, workflow);
  const pools = isRecord(definition.pools) ? definition.pools : {};
  if (typeof workflow.pools === "function")
    yield {
      field: `${name}.pools`,
      rule: "must not be a function",
      cure: "Write them like { database: 2 }",
    };
  yield* askProblems(`${name}.pools`, workflow.pools, pools, "run");
  yield* handlerProblems(`${name}.onFailure`, workflow.onFailure, definition);
  if (isRecord(plan)) yield* planProblems(name, { plan, ...workflow } as unknown as AnyWorkflow, definition);
  else
    yield {
      field: `${name}.steps`,
      rule: "must be a function",
      cure: "Write it like steps: (s, input) => { … }",
    };
}

function* planProblems(name: string, workflow: AnyWorkflow, definition: AppDefinition): Problems {
  for (const problem of shapeProblems(workflow.plan)) yield { ...problem, field: `${name}.${problem.field}` };
  yield* stepProblems(name, workflow, definition);
}
