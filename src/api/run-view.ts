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
  /** The namespace of its locks. */
  readonly namespace: string;
  readonly rerunOf: string | null;
  /** For a child run: where it stands in its tree. */
  readonly child?: ChildOf;
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

/** The step that a child run is. */
interface ChildOf {
  /** The run at the top of the tree. */
  readonly root: string;
  /** The run that it is a step of. */
  readonly parent: string;
  readonly step: string;
  /** For an item: its place in the list. */
  readonly item?: number;
  /** How many runs are above it. */
  readonly depth: number;
}

export type StepViewState =
  | "pending"
  | "later"
  | "waiting"
  /** It has waited and was answered, but its run is back in line and has not gone on yet. */
  | "answered"
  | "running"
  | "succeeded"
  | "failed"
  | "skipped"
  | "cancelled";

/** `workflow` and `group` are runs of their own: `runs.get` reads them by `unit`. */
type StepKind = "task" | "workflow" | "group" | "wait";

export interface StepView {
  readonly name: string;
  /** The ID of its task or workflow. For a group, its own name. Null for a step that waits. */
  readonly task: string | null;
  readonly kind: StepKind;
  readonly state: StepViewState;
  /** The steps it needs. */
  readonly needs: readonly string[];
  /** The ID of its task, for `why` and `tasks show`. Null until it is put in line. For a child run, the ID of that run. */
  readonly unit: string | null;
  readonly attempt: number;
  readonly enqueuedAt: number | null;
  readonly claimedAt: number | null;
  readonly finishedAt: number | null;
  /** Every time it was in line. The last one has no end while it still is. */
  readonly inLine: readonly Stay[];
  readonly progress?: unknown;
  /** Of a step over a list: how each item ended. */
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
  const { id, workflow, state, paused, priority, source, namespace, rerunOf } = row;
  const { createdAt, queuedAt, dequeuedAt, startedAt, finishedAt } = row;
  return {
    id,
    workflow,
    state,
    paused,
    priority,
    tags: readable(row.tags) as Record<string, string>,
    source,
    namespace,
    rerunOf,
    ...childOf(row),
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

function childOf({ root, parent, step, item, depth }: RunRow): Pick<RunView, "child"> {
  if (root === null || parent === null || step === null) return {};
  return { child: { root, parent, step, ...(item === null ? {} : { item }), depth } };
}

export function runWithSteps<Output>({ run, graph, steps }: RunDetail): RunWithSteps<Output> {
  const rows = new Map(steps.map((step) => [step.name, step]));
  const { steps: written = [] } = readable(graph) as Partial<Graph>;
  return {
    ...runView<Output>(run),
    steps: written.map((step) => stepView(aboutStep(step), rows.get(step.name), run)),
  };
}

/** What the graph says of a step. */
type AboutStep = Pick<StepView, "name" | "task" | "kind" | "needs">;

function aboutStep(step: GraphStep): AboutStep {
  const { name } = step;
  const needs = step.needs.map((need) => need.step);
  if (step.kind === undefined) return { name, task: step.task, kind: "task", needs };
  if (step.kind === "wait") return { name, task: null, kind: "wait", needs };
  return { name, task: step.workflow, kind: step.group ? "group" : "workflow", needs };
}

function stepView(step: AboutStep, row: StepRow | undefined, run: RunRow): StepView {
  const isOver = run.finishedAt !== null;
  if (!row)
    return {
      ...step,
      // The run ended before it reached this step.
      state: isOver ? "cancelled" : "pending",
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
  const isLoose = isCutLoose(row);
  return {
    ...step,
    state,
    unit: row.unit,
    attempt: row.attempt,
    enqueuedAt: row.enqueuedAt ?? row.items?.enqueuedAt ?? wait?.since ?? null,
    claimedAt: row.claimedAt,
    finishedAt: isLoose ? run.finishedAt : (row.finishedAt ?? wait?.answer?.at ?? null),
    inLine: row.inLine,
    ...(row.progress === null ? {} : { progress: readable(row.progress) }),
    ...(row.unit === null || isLoose || state === "skipped"
      ? {}
      : endOf(row.ended ?? row.place ?? "", row.result)),
    ...(takenOver === undefined ? {} : { takenOver }),
    ...(state === "skipped" && row.body !== null ? { because: readable(row.body) as Because } : {}),
    ...(row.items === null ? {} : { items: row.items }),
    ...(wait ? { wait } : {}),
    ...(state === "skipped" || row.body === null ? {} : ofBody(step, state, row.body)),
  };
}

/** A step that waited for a detached run when its own run ended. The end of the detached run is not its end. */
export const isCutLoose = ({ state, unit, ofRun }: StepRow): boolean =>
  state === "cancelled" && unit !== null && ofRun === null;

/** A list that was taken over whole has no items here, only their outcomes. */
function takenOverFrom(
  { state, unit, ofRun, fan, wait, enqueuedAt }: StepRow,
  { id, rerunOf, createdAt }: RunRow,
): string | undefined {
  // A detached run belongs to no run. It was submitted before this run if a step of an earlier one did so.
  if (unit !== null && ofRun === null)
    return (enqueuedAt ?? 0) < createdAt ? (rerunOf ?? undefined) : undefined;
  if (unit !== null) return ofRun === id ? undefined : (ofRun ?? undefined);
  return state === "succeeded" && fan === null && wait === null ? (rerunOf ?? undefined) : undefined;
}

/**
 * The answer of a step that waits, the outcomes of items, or the result of a step that only starts a run. If a step could
 * not begin, its body is the error.
 */
function ofBody({ kind }: AboutStep, state: StepViewState, text: string): Pick<StepView, "result" | "error"> {
  if (kind === "wait") return endOf(state, text);
  const body = readable(text);
  if (Array.isArray(body) || state === "succeeded") return { result: body };
  return state === "cancelled" ? endOf(state, text) : { error: body as StoredError };
}

/** For an open step, users want to know where its unit is. */
function stateOf({ state, place, items, wait }: StepRow, isOver: boolean): StepViewState {
  if (state !== "open") return state;
  // The run ended first and cancelled the items, or the wait.
  if ((items || wait) && isOver) return "cancelled";
  if (wait && wait.answer !== null) return "answered";
  if (items)
    return items.running + items.succeeded + items.failed + items.cancelled > 0 ? "running" : "waiting";
  if (place === null || place === "waiting" || place === "later") return place ?? "waiting";
  if (place === "claimed" || place === "running") return "running";
  return place === "succeeded" || place === "cancelled" ? place : "failed";
}
