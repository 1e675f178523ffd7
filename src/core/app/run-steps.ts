/** Rules for steps that are runs: workflows called as a step or per item, and groups. */

import type { AnyWorkflow } from "../workflow/definition.ts";
import type { PlannedRun } from "../workflow/steps.ts";
import { poolsOf } from "./app-pools.ts";
import type { AppDefinition } from "./definition.ts";
import { eachProblems } from "./each.ts";
import { DETACHED_FIELDS, GROUP_FIELDS, mustKnowFields, RUN_EACH_FIELDS, RUN_STEP_FIELDS } from "./fields.ts";
import { fixedLockProblems, lockProblems } from "./locks.ts";
import { unknownAmong } from "./near.ts";
import { askProblems } from "./pools.ts";
import type { Problems } from "./rule.ts";
import { isRecord, mustBeBoolean, mustBeDuration, mustBeWhole, shown } from "./rule.ts";
import { tagProblems } from "./tags.ts";

export function* runStepProblems(field: string, step: PlannedRun, definition: AppDefinition): Problems {
  const { options, each, calls } = step;
  const known = calls.group ? GROUP_FIELDS : each ? RUN_EACH_FIELDS : RUN_STEP_FIELDS;
  yield* mustKnowFields(`${field}.`, options, known);
  if (each) yield* eachProblems(field, each);
  const anyWhole = Number.NEGATIVE_INFINITY;
  yield* mustBeWhole(
    `${field}.priority`,
    options.priority,
    anyWhole,
    "Set it to a whole number; higher goes first",
  );
  yield* mustBeDuration(`${field}.timeout`, options.timeout);
  yield* lockProblems(field, options);
  yield* mustBeBoolean(`${field}.mayFail`, options.mayFail, "Write true if the run may continue without it");
  yield* fixedPools(`${field}.pools`, options.pools);
  yield* askProblems(`${field}.pools`, options.pools, poolsOf(definition), "step");
  yield* mustBeBoolean(`${field}.failFast`, options.failFast, "Write true to start nothing after a failure");
  yield* mustBeParallelism(`${field}.parallelism`, options.parallelism);
  yield* detachedProblems(`${field}.detached`, options.detached);
  if (!calls.group) yield* mustBeListed(field, step, definition);
}

export const mustBeParallelism = (field: string, parallelism: unknown): Problems =>
  mustBeWhole(
    field,
    parallelism,
    1,
    "Set how many may run at once, or leave it out for as many as other limits allow",
  );

function* fixedPools(field: string, pools: unknown): Problems {
  if (typeof pools === "function")
    yield { field, rule: "must not be a function", cure: "Write them like { database: 2 }" };
}

function* detachedProblems(field: string, detached: unknown): Problems {
  if (detached === undefined || typeof detached === "boolean") return;
  if (!isRecord(detached)) {
    yield {
      field,
      rule: `must be true or an object, but is ${shown(detached)}`,
      cure: "Write { wait: false }",
    };
    return;
  }
  yield* mustKnowFields(`${field}.`, detached, DETACHED_FIELDS);
  yield* mustBeBoolean(`${field}.wait`, detached.wait, "Write false if the step need not wait for that run");
  yield* tagProblems(`${field}.tags`, detached.tags);
}

function* mustBeListed(field: string, step: PlannedRun, { workflows }: AppDefinition): Problems {
  const workflow = workflowOf(step);
  if (!workflow) {
    yield { field: `${field}.workflow`, rule: "must be a workflow", cure: "Write it like () => nightly" };
    return;
  }
  yield* fixedLockProblems(field, workflow, step.options);
  const ids = Array.isArray(workflows) ? workflows.filter(isRecord).map(({ id }) => String(id)) : [];
  if (!ids.includes(workflow.id))
    yield {
      field: `${field}.workflow`,
      rule: `there is no workflow "${workflow.id}" in this app${unknownAmong(workflow.id, ids)}`,
      cure: "Add it to workflows",
    };
}

/** The workflow that a step calls. Undefined for a group, and for a function that does not return a workflow. */
export function workflowOf({ calls }: PlannedRun): AnyWorkflow | undefined {
  try {
    const found = calls.workflow?.();
    return found && isRecord(found.plan) ? found : undefined;
  } catch {
    return undefined;
  }
}
