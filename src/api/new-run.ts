/** Turns a call of `submit` into what the store keeps. Everything that can be refused is refused here. */
import { availableParallelism } from "node:os";
import type { App } from "../core/app/app.ts";
import { tagProblems } from "../core/app/tags.ts";
import { SluiceError } from "../core/error.ts";
import { sayNumber } from "../core/number.ts";
import { storedHandler } from "../core/task/handler.ts";
import { shortly } from "../core/text.ts";
import { parseDuration } from "../core/time.ts";
import { optionsOfRun } from "../core/unit-options.ts";
import type { AnyWorkflow } from "../core/workflow/definition.ts";
import { graphOf, runAsks, runTags } from "../core/workflow/resolve.ts";
import type { SubmitOptions } from "../core/workflow/submit-options.ts";
import { parseWith } from "../executor/function/function-executor.ts";
import { inputOf, inputText } from "../executor/input.ts";
import { laneOf } from "../store/lane.ts";
import type { NewRun, StepMove } from "../store/store.ts";
import { RUNS } from "../store/store.ts";
import { instant } from "./new-task.ts";

interface Making extends SubmitOptions {
  readonly id: string;
  readonly direct: boolean;
  /** The steps that a rerun takes over. */
  readonly rerun?: { readonly of: string; readonly steps: readonly StepMove[]; readonly all: boolean };
}

export async function newRun(
  app: App,
  workflow: AnyWorkflow,
  input: unknown,
  making: Making,
): Promise<NewRun> {
  const text = json(workflow, input);
  const parsed = workflow.input
    ? await parseWith(workflow.input, inputOf(text), `workflow "${workflow.id}"`)
    : inputOf(text);
  return runOf(app, workflow, json(workflow, parsed), making);
}

/** Makes a run from an input that has been checked already, such as the input of a rerun. */
export function runOf(app: App, workflow: AnyWorkflow, input: string, making: Making): NewRun {
  const { priority = workflow.priority ?? 0, delay, runAt } = making;
  if (!Number.isSafeInteger(priority))
    throw new SluiceError(
      "BAD_PRIORITY",
      `workflow "${workflow.id}": priority must be a whole number, but is ${sayNumber(priority)}.`,
    );
  if (delay !== undefined && runAt !== undefined)
    throw new SluiceError("BAD_OPTIONS", `workflow "${workflow.id}": give either delay or runAt, not both.`);
  if (making.direct) refuseHolding(workflow);
  for (const tags of [making.tags ?? {}, runTags(workflow, making.tags)]) checkTags(workflow, tags);
  const tags = sorted(runTags(workflow, making.tags));
  const handler = storedHandler(workflow.onFailure, { kind: "workflow", name: workflow.id });
  return {
    id: making.id,
    name: workflow.id,
    priority,
    lane: laneOf(RUNS, workflow.id, runAsks(workflow, tags)),
    input,
    options: optionsOfRun({
      startTimeoutMs: app.runs.startTimeoutMs,
      onStartTimeout: app.runs.onStartTimeout,
      ...(handler ? { onFailure: handler } : {}),
      ...(app.runs.whileWaiting === "release" && holdings(workflow).length === 0
        ? { releases: true as const }
        : {}),
      // Written only if true. It says that no items are taken over either.
      ...(making.rerun?.all ? { fromNothing: true as const } : {}),
    }),
    key: making.idempotencyKey ?? null,
    runAt: instant(`workflow "${workflow.id}"`, "runAt", runAt),
    delayMs: delay === undefined ? null : parseDuration(delay),
    goodUntil: null,
    goodForMs: null,
    direct: making.direct,
    graph: JSON.stringify(graphOf(workflow, app, { cpus: availableParallelism() })),
    tags: JSON.stringify(tags),
    source: making.source ?? "code",
    rerunOf: making.rerun?.of ?? null,
    steps: making.rerun?.steps ?? [],
  };
}

/** Locks and pools that a run holds from its start to its end. */
const holdings = ({ mutexes = [], pools = {} }: AnyWorkflow): string[] => [
  ...mutexes.map((name) => `mutex "${name}"`),
  ...Object.keys(pools).map((name) => `pool "${name}"`),
];

/**
 * Direct execution never waits, and must not take pools or mutexes past their limits. So a workflow that
 * holds any is refused.
 */
function refuseHolding(workflow: AnyWorkflow): void {
  const { id } = workflow;
  const held = holdings(workflow);
  if (held.length === 0) return;
  throw new SluiceError(
    "NOT_DIRECT",
    `workflow "${id}" holds ${held.join(", ")} from its start to its end, and direct execution never waits. Submit it, or let its steps ask instead.`,
  );
}

function json(workflow: AnyWorkflow, input: unknown): string {
  try {
    return inputText(input);
  } catch (cause) {
    throw new SluiceError("BAD_INPUT", `workflow "${workflow.id}": ${(cause as Error).message}.`, { cause });
  }
}

/** Tags are checked because they become part of a gate's key. */
function checkTags(workflow: AnyWorkflow, tags: Readonly<Record<string, string>>): void {
  for (const { field, rule, cure } of tagProblems("tags", tags))
    throw new SluiceError("BAD_TAG", `workflow "${workflow.id}": ${readableField(field)} ${rule}. ${cure}.`);
}

const sorted = (tags: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(tags).sort(([a], [b]) => (a < b ? -1 : 1)));

/** The tag's key in the field is shown as it was given. */
const readableField = (field: string): string => shortly(field).replace(/^"|"$/g, "");
