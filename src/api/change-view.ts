/**
 * A change as users see it. The units of runs are shown as runs and steps, with the kinds used in their
 * histories.
 */
import { didYouMean } from "../core/app/near.ts";
import type { ChangeKind } from "../core/change.ts";
import { ALL_TOPICS, RECORDED_KINDS, TOPIC, topicOf } from "../core/change.ts";
import { SluiceError } from "../core/error.ts";
import type { FeedEventKind } from "../core/event.ts";
import { isEventKind } from "../core/event.ts";
import type { RunEventKind } from "../core/run/event.ts";
import { RUN_EVENTS } from "../core/run/event.ts";
import { shortly } from "../core/text.ts";
import { isRunQueue, RUNS } from "../store/runs.ts";
import type { Change } from "../store/store.ts";
import { readable } from "./readable.ts";
import { OF_RUN, OF_STEP, poolsIn } from "./run-events.ts";

/** A kind as users know it: of a task, a run, a step, a limit or a worker. */
type SeenKind = ChangeKind | RunEventKind | FeedEventKind;

export interface ChangeView {
  /** The position of this change in the feed. A reader resumes here with `changes({ after: cursor })`. */
  readonly cursor: string;
  readonly at: number;
  readonly kind: SeenKind;
  /** The ID of a task, run or worker, the key of a limit, or the name of a trigger. */
  readonly subject: string;
  readonly run?: string;
  readonly step?: string;
  readonly item?: number;
  /** The name of the task or the workflow. */
  readonly task?: string;
  readonly queue?: string;
  readonly data: Readonly<Record<string, unknown>>;
}

type Kinds = Readonly<Partial<Record<ChangeKind, SeenKind>>>;

/** A run that expired, or that recovery gave up on, counts as failed. */
const RUN_KINDS: Kinds = {
  ...OF_RUN,
  TaskLost: "RunRequeued",
  TaskRetried: "RunRequeued",
  TaskExpired: "RunFailed",
  TaskQuarantined: "RunFailed",
};

const STEP_KINDS: Kinds = {
  ...OF_STEP,
  TaskClaimed: "StepStarted",
  TaskStarted: "StepSlotClaimed",
  TaskLogged: "StepLogged",
  TaskReprioritized: "StepReprioritized",
};

const isOfUnit = (kind: ChangeKind): boolean => kind.startsWith("Task");
const kindOfRun = (kind: ChangeKind): SeenKind => RUN_KINDS[kind] ?? kind;
const kindOfStep = (kind: ChangeKind): SeenKind => STEP_KINDS[kind] ?? kind;

function kindOf({ kind, queue, run, step }: Change): SeenKind {
  if (!isOfUnit(kind)) return kind;
  if (queue === RUNS) return kindOfRun(kind);
  return run !== null && step !== null ? kindOfStep(kind) : kind;
}

/**
 * A step that starts may also have taken slots of pools, as in the history of its run. Both views are one change:
 * whoever resumes between them gets both again.
 */
export function changeViews(change: Change, cursorAt: (position: number) => string): ChangeView[] {
  const { kind, position } = change;
  const seen = kindOf(change);
  if (seen !== "StepStarted" && seen !== "StepSlotClaimed") return [viewOf(change, seen, cursorAt(position))];
  const { asks = [], ...data } = dataOf(change.data) as { readonly asks?: readonly [string, number][] };
  const pools = poolsIn(asks.map(([gate]) => gate));
  const isStart = kind === "TaskClaimed";
  const slots: ChangeView = {
    ...viewOf(change, "StepSlotClaimed", cursorAt(isStart ? position - 1 : position)),
    data: { pools: pools.join(",") },
  };
  const start: ChangeView = { ...viewOf(change, "StepStarted", cursorAt(position)), data: attemptIn(data) };
  return [...(pools.length > 0 ? [slots] : []), ...(isStart ? [start] : [])];
}

const attemptIn = ({ attempt }: { readonly attempt?: unknown }): ChangeView["data"] => ({ attempt });

function viewOf(change: Change, kind: SeenKind, cursor: string): ChangeView {
  const { at, subject, run, step, item, task, queue, data } = change;
  const isRun = queue === RUNS;
  return {
    cursor,
    at,
    kind,
    subject,
    ...(run === null && !isRun ? {} : { run: run ?? subject }),
    ...(step === null ? {} : { step }),
    ...(item === null ? {} : { item }),
    ...(task === null ? {} : { task }),
    ...(queue === null || isRunQueue(queue) ? {} : { queue }),
    data: kind === "StepSkipped" ? { because: dataOf(data) } : dataOf(data),
  };
}

function dataOf(text: string | null): Readonly<Record<string, unknown>> {
  if (text === null) return {};
  const data = readable(text);
  return typeof data === "object" && data !== null ? { ...data } : { value: data };
}

/** Maps each kind that users know to the kinds that are recorded. */
const RECORDED_AS = new Map<string, ChangeKind[]>();
for (const recorded of RECORDED_KINDS) {
  const seen = isOfUnit(recorded) ? [recorded, kindOfRun(recorded), kindOfStep(recorded)] : [recorded];
  if (recorded === "TaskClaimed") seen.push("StepSlotClaimed");
  for (const kind of new Set(seen)) RECORDED_AS.set(kind, [...(RECORDED_AS.get(kind) ?? []), recorded]);
}

function bitOf(kind: ChangeKind): number {
  const topic = topicOf(kind);
  return topic === null ? 0 : TOPIC[topic];
}

/** The kinds that a filter may name. Every one of them is told. */
export const KINDS_OF_CHANGES: readonly string[] = [...RECORDED_AS.keys()];

const notInTheFeed = (kind: string): string =>
  isEventKind(kind) || Object.hasOwn(RUN_EVENTS, kind)
    ? `"${kind}" is an event of a history. The feed does not tell it.`
    : `${shortly(kind)} is not a kind of change.${didYouMean(kind, KINDS_OF_CHANGES)}`;

/** The topics under which these kinds are recorded. */
export function topicsOf(kinds: readonly string[] | undefined): number {
  if (kinds === undefined) return ALL_TOPICS;
  return kinds.reduce((topics, kind) => {
    const recorded = RECORDED_AS.get(kind);
    if (recorded) return recorded.reduce((all, one) => all | bitOf(one), topics);
    throw new SluiceError("UNKNOWN_KIND", notInTheFeed(kind));
  }, 0);
}
