/**
 * The rules of the feed that all stores share: which listener wants which change, and which changes a run
 * reports as a whole.
 */
import type { ChangeKind } from "../core/change.ts";
import { TOPIC, topicOf } from "../core/change.ts";
import { SluiceError } from "../core/error.ts";
import type { Range } from "../core/number.ts";
import { checkNumber } from "../core/number.ts";
import { textProblem } from "../core/text.ts";
import type { FeedCursor, Interest, NewChange } from "./ports/feed.ts";
import { LEAST_KEEP_MS, MOST_KEEP_MS } from "./ports/feed.ts";
import type { RunMove, RunSeen, StepMove, StepState } from "./runs.ts";

/** Positions are whole numbers that stay exact everywhere. */
export const POSITIONS: Range = { least: 0, most: Number.MAX_SAFE_INTEGER };

/** A cursor comes from outside, and may have been altered on its way. */
export function checkCursor({ listener, position }: FeedCursor): void {
  const problem = textProblem(listener);
  if (problem !== undefined) throw new SluiceError("BAD_CURSOR", `The listener of a cursor ${problem}.`);
  checkNumber("BAD_CURSOR", "The position of a cursor", position, POSITIONS);
}

export const keepFor = (ms: number): number => Math.min(MOST_KEEP_MS, Math.max(LEAST_KEEP_MS, ms));

/** How long changes are kept for a listener whose slowest reader is behind by this time. */
export const keepBehind = (keepMs: number, behindMs: number): number =>
  keepFor(keepMs) + Math.min(MOST_KEEP_MS, Math.max(0, behindMs));

export function wants(interest: Interest, change: Omit<NewChange, "at">): boolean {
  const topic = topicOf(change.kind);
  return (
    topic !== null &&
    (interest.topics & TOPIC[topic]) !== 0 &&
    (interest.run === null || interest.run === change.run || interest.run === change.subject) &&
    (interest.task === null || interest.task === change.task) &&
    (interest.queue === null || interest.queue === change.queue)
  );
}

/** Whether `wide` wants everything that `narrow` wants. */
export const covers = (wide: Interest, narrow: Interest): boolean =>
  (narrow.topics & ~wide.topics) === 0 &&
  (wide.run === null || wide.run === narrow.run) &&
  (wide.task === null || wide.task === narrow.task) &&
  (wide.queue === null || wide.queue === narrow.queue);

/** A change of a run that none of its units reports: its start, or a step that has no unit of its own. */
export interface RunChange {
  readonly run: string;
  readonly kind: ChangeKind;
  readonly step: string | null;
  readonly data: string | null;
}

const LIST_ENDS: Readonly<Record<Exclude<StepState, "open">, ChangeKind>> = {
  succeeded: "StepSucceeded",
  failed: "StepFailed",
  skipped: "StepSkipped",
  cancelled: "StepCancelled",
};

/**
 * A step with one unit is reported by its unit. A list has many units and a step that waits has none, so these
 * steps are reported as a whole.
 */
export function changesOfRun(
  { run, start, steps }: RunMove,
  seen: Pick<RunSeen, "steps"> | undefined,
): RunChange[] {
  const known = new Map((seen?.steps ?? []).map((step) => [step.name, step]));
  const told = (step: StepMove): RunChange[] => {
    const before = known.get(step.name);
    const change = (kind: ChangeKind, data: string | null = null): RunChange[] => [
      { run, kind, step: step.name, data },
    ];
    if (step.state === "skipped") return change("StepSkipped", step.body);
    if (!step.fan && !before?.fan && !isOfWait(step)) return [];
    if (step.state !== "open") return change(LIST_ENDS[step.state]);
    return before ? [] : change("StepReady", JSON.stringify({ items: step.fan?.total ?? 0 }));
  };
  const started: RunChange[] =
    start && !start.again ? [{ run, kind: "RunStarted", step: null, data: null }] : [];
  return [...started, ...steps.flatMap(told)];
}

/** A step that ends with an answer, or that could not begin to wait. How it began is told by its history. */
const isOfWait = ({ state, unit, answered }: StepMove): boolean =>
  answered === true || (unit === null && state === "failed");

export const pausedChange = (run: string, paused: boolean, by: string): RunChange => ({
  run,
  kind: paused ? "RunPaused" : "RunResumed",
  step: null,
  data: JSON.stringify({ by }),
});

/** The queue or the run that a gate belongs to. */
export function placeOfGate(key: string): { readonly queue: string | null; readonly run: string | null } {
  const run = /^run:([^/]*)\//.exec(key)?.[1] ?? null;
  return { queue: key.startsWith("queue:") ? key.slice("queue:".length) : null, run };
}
