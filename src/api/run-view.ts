/** A run as users and programs see it, with its JSON parsed and its steps in the order of the workflow. */
import type { Because } from "../core/run/progress.ts";
import type { Graph, GraphStep } from "../core/workflow/graph.ts";
import type { StoredError } from "../executor/executor.ts";
import { inputOf } from "../executor/input.ts";
import type { Stay } from "../store/in-line.ts";
import type { ItemCounts, RunDetail, RunRow, RunState, StepRow } from "../store/store.ts";
import { endOf } from "./end-of.ts";
import { readable } from "./readable.ts";
import type { WaitStepView } from "./wait-view.ts";
import { waitView } from "./wait-view.ts";

export interface RunView<Output = unknown> {
  readonly id: string;
  readonly workflow: string;
  readonly state: RunState;
  readonly paused: boolean;
  readonly priority: number;
  readonly tags: Readonly<Record<string, string>>;
  /** The submitter. */
  readonly source: string;
  readonly rerunOf: string | null;
  readonly idempotencyKey: string | null;
  readonly input: unknown;
  readonly result?: Output;
  readonly error?: StoredError;
  readonly createdAt: number;
  readonly queuedAt: number;
  readonly dequeuedAt: number | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
}

export type StepViewState =
  | "pending"
  | "later"
  | "waiting"
  | "running"
  | "succeeded"
  | "failed"
  | "skipped"
  | "cancelled";

export interface StepView {
  readonly name: string;
  /** The task it calls. Null for a step that waits. */
  readonly task: string | null;
  readonly state: StepViewState;
  /** The steps it needs. */
  readonly needs: readonly string[];
  /** The ID of its task, for `why` and `tasks show`. Null until it is put in line. */
  readonly unit: string | null;
  readonly attempt: number;
  readonly enqueuedAt: number | null;
  readonly claimedAt: number | null;
  readonly finishedAt: number | null;
  /** Every time it was in line. The last one has no end while it still is. */
  readonly inLine: readonly Stay[];
  readonly progress?: unknown;
  readonly result?: unknown;
  readonly error?: StoredError;
  /** The run that it was taken over from. It did not run again here. */
  readonly takenOver?: string;
  /** Why it was skipped. */
  readonly because?: Because;
  /** For a step over a list: the counts of its items. */
  readonly items?: ItemCounts;
  /** For a step that waits or has waited: what for, and how it was answered. */
  readonly wait?: WaitStepView;
}

export interface RunWithSteps<Output = unknown> extends RunView<Output> {
  readonly steps: readonly StepView[];
}

export function runView<Output>(row: RunRow): RunView<Output> {
  const { id, workflow, state, paused, priority, source, rerunOf } = row;
  const { createdAt, queuedAt, dequeuedAt, startedAt, finishedAt } = row;
  return {
    id,
    workflow,
    state,
    paused,
    priority,
    tags: readable(row.tags) as Record<string, string>,
    source,
    rerunOf,
    idempotencyKey: row.key,
    input: readable(row.input, inputOf),
    ...endOf<Output>(state, row.body),
    createdAt,
    queuedAt,
    dequeuedAt,
    startedAt,
    finishedAt,
  };
}

export function runWithSteps<Output>({ run, graph, steps }: RunDetail): RunWithSteps<Output> {
  const rows = new Map(steps.map((step) => [step.name, step]));
  const { steps: written = [] } = readable(graph) as Partial<Graph>;
  return {
    ...runView<Output>(run),
    steps: written.map((step) => stepView(step, rows.get(step.name), run)),
  };
}

function stepView(step: GraphStep, row: StepRow | undefined, run: RunRow): StepView {
  const isOver = run.finishedAt !== null;
  const { name } = step;
  const task = step.kind === "wait" ? null : step.task;
  const needs = step.needs.map((need) => need.step);
  if (!row)
    return {
      name,
      task,
      // The run ended before it reached this step.
      state: isOver ? "cancelled" : "pending",
      needs,
      unit: null,
      attempt: 0,
      enqueuedAt: null,
      claimedAt: null,
      finishedAt: null,
      inLine: [],
    };
  const state = stateOf(row, isOver);
  const takenOver = takenOverFrom(row, run);
  const wait = row.wait && waitView(row.wait);
  return {
    name,
    task,
    state,
    needs,
    unit: row.unit,
    attempt: row.attempt,
    enqueuedAt: row.enqueuedAt ?? row.items?.enqueuedAt ?? wait?.since ?? null,
    claimedAt: row.claimedAt,
    finishedAt: row.finishedAt ?? wait?.answer?.at ?? null,
    inLine: row.inLine,
    ...(row.progress === null ? {} : { progress: readable(row.progress) }),
    ...(row.unit === null ? {} : endOf(row.ended ?? row.place ?? "", row.result)),
    ...(takenOver === undefined ? {} : { takenOver }),
    ...(state === "skipped" && row.body !== null ? { because: readable(row.body) as Because } : {}),
    ...(row.items === null ? {} : { items: row.items }),
    ...(wait ? { wait } : {}),
    ...(state === "skipped" || row.body === null ? {} : ofBody(step, state, row.body)),
  };
}

/** A step that waits ends with its body, a list with the outcomes of its items. */
const ofBody = (step: GraphStep, state: StepViewState, body: string): Pick<StepView, "result" | "error"> =>
  step.kind === "wait" ? endOf(state, body) : ofItems(readable(body));

/** A list that was taken over whole has no items here, only their outcomes. */
function takenOverFrom(
  { state, unit, ofRun, fan, wait }: StepRow,
  { id, rerunOf }: RunRow,
): string | undefined {
  if (unit !== null) return ofRun === null || ofRun === id ? undefined : ofRun;
  return state === "succeeded" && fan === null && wait === null ? (rerunOf ?? undefined) : undefined;
}

/** If a list could not begin, its body is the error. Otherwise its body is the outcomes of its items. */
function ofItems(body: unknown): Pick<StepView, "result" | "error"> {
  return Array.isArray(body) ? { result: body } : { error: body as StoredError };
}

/** For an open step, users want to know where its unit is. */
function stateOf({ state, place, items, wait }: StepRow, isOver: boolean): StepViewState {
  if (state !== "open") return state;
  // The run ended first and cancelled the items, or the wait.
  if ((items || wait) && isOver) return "cancelled";
  if (items)
    return items.running + items.succeeded + items.failed + items.cancelled > 0 ? "running" : "waiting";
  if (place === null || place === "waiting" || place === "later") return place ?? "waiting";
  if (place === "claimed" || place === "running") return "running";
  return place === "succeeded" || place === "cancelled" ? place : "failed";
}
