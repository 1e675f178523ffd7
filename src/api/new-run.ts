/** Turns a call of `submit` into what the store keeps. Everything that can be refused is refused here. */
import { availableParallelism } from "node:os";
import type { App } from "../core/app/app.ts";
import { tagProblems } from "../core/app/tags.ts";
import { SluiceError } from "../core/error.ts";
import { DEFAULT_NAMESPACE } from "../core/gate/key.ts";
import type { Lock } from "../core/gate/lock.ts";
import { sayNumber } from "../core/number.ts";
import { storedHandler } from "../core/task/handler.ts";
import { shortly } from "../core/text.ts";
import { parseDuration } from "../core/time.ts";
import { optionsOfRun } from "../core/unit-options.ts";
import type { AnyWorkflow } from "../core/workflow/definition.ts";
import { graphsOf } from "../core/workflow/resolve.ts";
import { runAsks, runTags } from "../core/workflow/run-asks.ts";
import type { SubmitOptions } from "../core/workflow/submit-options.ts";
import { parseWith } from "../executor/function/function-executor.ts";
import { inputOf, inputText } from "../executor/input.ts";
import { laneOf } from "../store/lane.ts";
import type { NewRun, StepMove } from "../store/store.ts";
import { RUNS } from "../store/store.ts";
import { locksFor } from "./locks-for.ts";
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
  const namespace = DEFAULT_NAMESPACE;
  const locks = locksFor(`workflow "${workflow.id}"`, workflow, inputOf(input), namespace);
  const holds = holdings(workflow, locks);
  if (making.direct) refuseHolding(workflow, holds);
  for (const tags of [making.tags ?? {}, runTags(workflow, making.tags)]) checkTags(workflow, tags);
  const tags = sorted(runTags(workflow, making.tags));
  const graphs = graphsOf(workflow, app, { cpus: availableParallelism() });
  const handler = storedHandler(workflow.onFailure, { kind: "workflow", name: workflow.id });
  return {
    id: making.id,
    name: workflow.id,
    priority,
    lane: laneOf(RUNS, workflow.id, runAsks(workflow, { tags, locks, namespace })),
    input,
    options: optionsOfRun({
      startTimeoutMs: app.runs.startTimeoutMs,
      onStartTimeout: app.runs.onStartTimeout,
      ...(handler ? { onFailure: handler } : {}),
      ...(app.runs.whileWaiting === "release" && holds.length === 0 ? { releases: true as const } : {}),
      // Written only if true. It says that no items are taken over either.
      ...(making.rerun?.all ? { fromNothing: true as const } : {}),
    }),
    key: making.idempotencyKey ?? null,
    runAt: instant(`workflow "${workflow.id}"`, "runAt", runAt),
    delayMs: delay === undefined ? null : parseDuration(delay),
    goodUntil: null,
    goodForMs: null,
    direct: making.direct,
    graph: JSON.stringify(graphs.root),
    nested: graphs.nested.map((graph) => JSON.stringify(graph)),
    tags: JSON.stringify(tags),
    source: making.source ?? "code",
    rerunOf: making.rerun?.of ?? null,
    steps: making.rerun?.steps ?? [],
  };
}

/** Locks and pools that a run holds from its start to its end. */
const holdings = ({ pools = {} }: AnyWorkflow, locks: readonly Lock[]): string[] => [
  ...locks.map(({ kind, name }) => `${kind} "${name}"`),
  ...Object.keys(pools).map((name) => `pool "${name}"`),
];

/**
 * Direct execution never waits, and must not take pools or locks past their limits. So a workflow that
 * holds any is refused.
 */
function refuseHolding({ id }: AnyWorkflow, held: readonly string[]): void {
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
