/**
 * Rules for the steps of a workflow within their app. Their tasks and pools must exist, and no step may wait
 * for something that its own run holds, because it would wait forever.
 */

import type { AnyWorkflow } from "../workflow/definition.ts";
import type { ExecutorChoice } from "../workflow/executor.ts";
import { gateOf, parallel } from "../workflow/executor.ts";
import type { PlannedTaskStep } from "../workflow/steps.ts";
import type { AppDefinition } from "./definition.ts";
import { eachProblems } from "./each.ts";
import { executorProblems } from "./executors.ts";
import { EACH_FIELDS, EXECUTOR_FIELDS, mustKnowFields, STEP_FIELDS } from "./fields.ts";
import { unknownAmong } from "./near.ts";
import { askProblems, neverFits } from "./pools.ts";
import { queueOfTask } from "./queues.ts";
import type { Problems } from "./rule.ts";
import {
  entriesOf,
  isRecord,
  mustBeBoolean,
  mustBeDuration,
  mustBeName,
  mustBeWhole,
  shown,
} from "./rule.ts";
import { retryProblems } from "./tasks.ts";
import { waitProblems } from "./waits.ts";

export function* stepProblems(name: string, workflow: AnyWorkflow, definition: AppDefinition): Problems {
  for (const step of workflow.plan.steps) {
    const field = `${name}.steps.${step.name}`;
    if (step.kind === "wait") {
      yield* waitProblems(field, step);
      continue;
    }
    yield* optionProblems(field, step, definition);
    yield* taskOfStep(field, step, definition);
    yield* heldByRun(field, step, workflow, definition);
  }
  yield* gateProblems(name, workflow, definition);
}

function* optionProblems(
  field: string,
  { options, each }: PlannedTaskStep,
  definition: AppDefinition,
): Problems {
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
  yield* mutexProblems(`${field}.mutexes`, options.mutexes);
  yield* mustBeBoolean(`${field}.mayFail`, options.mayFail, "Write true if the run may continue without it");
  yield* executorProblems(`${field}.executor`, options.executor);
  yield* askProblems(`${field}.pools`, options.pools, poolsOf(definition), "step");
}

function* taskOfStep(field: string, { task, options }: PlannedTaskStep, { tasks }: AppDefinition): Problems {
  const ids = Array.isArray(tasks) ? tasks.filter(isRecord).map(({ id }) => String(id)) : [];
  if (!ids.includes(task.id))
    yield {
      field: `${field}.task`,
      rule: `there is no task "${task.id}" in this app${unknownAmong(task.id, ids)}`,
      cure: "Add it to tasks",
    };
  if (typeof task.pools === "function" ? !isRecord(options.pools) : typeof options.pools === "function")
    yield {
      field: `${field}.pools`,
      rule: `must be set on the step, because a step's asks are fixed before its input is known`,
      cure: "Write them in the step's options, like { pools: { database: 2 } }",
    };
}

/** The names must be able to be part of a key, and none may appear twice. */
export function* mutexProblems(field: string, mutexes: unknown): Problems {
  if (mutexes === undefined) return;
  if (!Array.isArray(mutexes)) {
    yield { field, rule: `must be a list, but is ${shown(mutexes)}`, cure: 'Write it like ["nightly"]' };
    return;
  }
  for (const [index, mutex] of mutexes.entries()) {
    yield* mustBeName(`${field}[${index}]`, mutex, "a mutex's name");
    if (mutexes.indexOf(mutex) < index)
      yield {
        field: `${field}[${index}]`,
        rule: `"${mutex}" is named twice`,
        cure: "Name each mutex once",
      };
  }
}

function* heldByRun(
  field: string,
  step: PlannedTaskStep,
  run: AnyWorkflow,
  definition: AppDefinition,
): Problems {
  const [wanted, held] = [step.options.mutexes, run.mutexes].map((list) => (Array.isArray(list) ? list : []));
  for (const mutex of (wanted as string[]).filter((each) => held?.includes(each)))
    yield {
      field: `${field}.mutexes`,
      rule: `"${mutex}" is held by the run itself until it ends, so this step could never start`,
      cure: "Name it with the workflow or with the step, not with both",
    };
  const ofRun = new Map(entriesOf(run.pools));
  for (const [ask, slots] of entriesOf(step.options.pools ?? step.task.pools))
    yield* together(
      `${field}.pools.${ask}`,
      ask,
      slots as number,
      (ofRun.get(ask) ?? 0) as number,
      definition,
    );
}

/** Another rule already reports an ask that does not fit on its own. */
function* together(
  field: string,
  ask: string,
  slots: number,
  ofRun: number,
  definition: AppDefinition,
): Problems {
  const [name = ""] = ask.split("=", 1);
  const limit = poolsOf(definition)?.[name]?.limit;
  if (!ofRun || limit === undefined || neverFits(slots, limit) || neverFits(ofRun, limit)) return;
  if (neverFits(slots + ofRun, limit))
    yield {
      field,
      rule: `pool "${ask}": this step asks for ${slots} while its run holds ${ofRun}, but the limit is ${limit}, so it could never start`,
      cure: `Ask with the workflow or with the step, or set pools.${name}.limit to ${slots + ofRun}`,
    };
}

/** A run has each of its gates once, with one limit. */
function* gateProblems(name: string, workflow: AnyWorkflow, { executor: ofApp }: AppDefinition): Problems {
  const first = new Map<string, { step: string; limit: number | "cpus" }>();
  for (const planned of workflow.plan.steps) {
    if (planned.kind === "wait") continue;
    const { name: step, task, options } = planned;
    const choice = options.executor ?? workflow.executor ?? ofApp ?? parallel();
    if (!isChoice(choice)) continue;
    const gate = gateOf(choice, task);
    const known = first.get(gate.name);
    if (!known) first.set(gate.name, { step, limit: gate.limit });
    else if (known.limit !== gate.limit)
      yield {
        field: `${name}.steps.${step}.executor`,
        rule: `limits "${gate.name}" to ${sayLimit(gate.limit)}, but step "${known.step}" limits it to ${sayLimit(known.limit)}, and a run has it once`,
        cure: "Give both the same limit, or leave the choice to the workflow",
      };
  }
}

function isChoice(choice: unknown): choice is ExecutorChoice {
  return isRecord(choice) && Object.hasOwn(EXECUTOR_FIELDS, String(choice.kind));
}

function sayLimit(limit: number | "cpus"): string {
  if (limit === "cpus") return "the number of CPUs";
  return limit < 0 ? "no number" : String(limit);
}

function poolsOf({ pools }: AppDefinition): AppDefinition["pools"] {
  return isRecord(pools) ? pools : {};
}
