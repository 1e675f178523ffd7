/** A change as people see it. The units of runs are told as runs and steps, by the kinds that their histories have. */
import { didYouMean } from "../core/app/near.ts";
import { SluiceError } from "../core/error.ts";
import type { Change } from "../store/feed.ts";
import { ALL_TOPICS, RECORDED_KINDS, TOPIC, topicOf } from "../store/feed.ts";
import { RUNS } from "../store/runs.ts";
import { readable } from "./readable.ts";
import { OF_RUN, OF_STEP } from "./run-events.ts";

export interface ChangeView {
  /** Where it stands. Whoever has come this far goes on with `changes({ after: cursor })`. */
  readonly cursor: string;
  readonly at: number;
  readonly kind: string;
  /** The id of a task, run or worker, the key of a limit, the name of a trigger. */
  readonly subject: string;
  readonly run?: string;
  readonly step?: string;
  readonly item?: number;
  /** The name of the task or the workflow. */
  readonly task?: string;
  readonly queue?: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const STEP_KINDS: Readonly<Record<string, string>> = {
  ...OF_STEP,
  TaskClaimed: "StepStarted",
  TaskStarted: "StepSlotClaimed",
};

const kindOfRun = (kind: string): string => OF_RUN[kind] ?? kind.replace(/^Task/, "Run");
const kindOfStep = (kind: string): string => STEP_KINDS[kind] ?? kind.replace(/^Task/, "Step");

function kindOf({ kind, queue, run, step }: Change): string {
  if (!kind.startsWith("Task")) return kind;
  if (queue === RUNS) return kindOfRun(kind);
  return run !== null && step !== null ? kindOfStep(kind) : kind;
}

export function changeView(change: Change, cursor: string): ChangeView {
  const { at, subject, run, step, item, task, queue, data } = change;
  const kind = kindOf(change);
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
    ...(queue === null || isRun ? {} : { queue }),
    data: dataOf(data),
  };
}

function dataOf(text: string | null): Readonly<Record<string, unknown>> {
  if (text === null) return {};
  const data = readable(text);
  return typeof data === "object" && data !== null ? { ...data } : { value: data };
}

/** By the kinds people know, those that are recorded. */
const RECORDED_AS = new Map<string, string[]>();
for (const recorded of RECORDED_KINDS) {
  const isUnit = recorded.startsWith("Task");
  for (const kind of new Set(isUnit ? [recorded, kindOfRun(recorded), kindOfStep(recorded)] : [recorded]))
    RECORDED_AS.set(kind, [...(RECORDED_AS.get(kind) ?? []), recorded]);
}

/** The topics under which these kinds are recorded. */
export function topicsOf(kinds: readonly string[] | undefined): number {
  if (kinds === undefined) return ALL_TOPICS;
  return kinds.reduce((topics, kind) => {
    const recorded = RECORDED_AS.get(kind);
    if (recorded) return recorded.reduce((all, one) => all | TOPIC[topicOf(one)], topics);
    throw new SluiceError(
      "UNKNOWN_KIND",
      `"${kind}" is not a kind of change.${didYouMean(kind, [...RECORDED_AS.keys()])}`,
    );
  }, 0);
}
