/** Shows a watched run where nothing can be drawn, in a pipe or a log: one line for each change. */
import type { RunWithSteps, StepView } from "../../api/run-view.ts";
import { sayItemsEnd, sayStanding, standingOf } from "./item-standing.ts";
import { sayProgress } from "./progress.ts";
import { runEnding, sayError, saySkipped, stepRanFor, stepWaitedFor } from "./run-ending.ts";
import type { Seen } from "./run-seen.ts";
import { count } from "./say.ts";
import { padTo, safe, widthOf } from "./text.ts";

/** The progress of a step is shown at most once in this time, because it may change constantly. */
const QUIET_MS = 5_000;

export interface ToldLine {
  /** When it happened, by the clock of the store. For what goes on, when it was seen. */
  readonly at: number;
  readonly text: string;
}

export class RunLines {
  #before: Seen | undefined;
  /** When the progress of each step was last shown. */
  readonly #told = new Map<string, number>();

  /** The lines about what has changed since the last call, each with its time. The first call returns everything. */
  tell(seen: Seen): ToldLine[] {
    const lines = changes(this.#before, seen, (step) => this.#mayTell(step, seen.now));
    this.#before = seen;
    return lines;
  }

  #mayTell(step: string, now: number): boolean {
    if (now - (this.#told.get(step) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return false;
    this.#told.set(step, now);
    return true;
  }
}

type MayTell = (step: string) => boolean;

function changes(before: Seen | undefined, seen: Seen, mayTell: MayTell): ToldLine[] {
  const { run } = seen;
  const width = Math.max(...[run.workflow, ...run.steps.map(({ name }) => name)].map(widthOf));
  const known = new Map(before?.run.steps.map((step) => [step.name, step]));
  const line = (name: string, what: string, at: number | null): ToldLine => ({
    at: at ?? seen.now,
    text: `${padTo(safe(name), width)}  ${safe(what)}`,
  });
  const steps = run.steps.flatMap((step) => {
    const what = ofStep(known.get(step.name), step, { before, seen, mayTell });
    return what === undefined ? [] : [line(step.name, what, timeOf(known.get(step.name), step))];
  });
  const what = ofRun(before, seen);
  const own = what === undefined ? [] : [line(run.workflow, what, timeOfRun(before?.run, run))];
  // The end of a run comes after the lines of its steps. All its other lines come before them.
  return run.finishedAt === null ? [...own, ...steps] : [...steps, ...own];
}

/** When a step entered its state. Null if it has not changed, or nobody knows. */
function timeOf(
  was: StepView | undefined,
  { state, claimedAt, finishedAt, attempt, items }: StepView,
): number | null {
  if (was?.state === state && was.attempt === attempt) return null;
  return state === "running" ? (claimedAt ?? items?.since ?? null) : finishedAt;
}

function timeOfRun(was: RunWithSteps | undefined, run: RunWithSteps): number | null {
  if (was?.state === run.state) return null;
  if (run.state === "queued") return run.queuedAt;
  return run.finishedAt ?? run.startedAt ?? run.dequeuedAt;
}

function ofRun(before: Seen | undefined, seen: Seen): string | undefined {
  const { run, why } = seen;
  if (run.state === "queued")
    return before && before.why?.gist === why?.gist
      ? undefined
      : `${run.id} queued${why?.text ? `: ${why.text}` : ""}`;
  if (before?.run.state === run.state) return pauseOf(before.run, run);
  if (run.state === "notStarted") return `${run.id} admitted`;
  return `${run.id} ${runEnding(run) ?? "started"}`;
}

function pauseOf(before: RunWithSteps, { paused, finishedAt }: RunWithSteps): string | undefined {
  if (before.paused === paused || finishedAt !== null) return undefined;
  return paused ? "paused" : "resumed";
}

interface Telling {
  readonly before: Seen | undefined;
  readonly seen: Seen;
  readonly mayTell: MayTell;
}

function ofStep(was: StepView | undefined, step: StepView, telling: Telling): string | undefined {
  const isAList = step.items !== undefined && step.state !== "waiting";
  return isAList ? ofItems(was, step, telling) : ofOne(was, step, telling);
}

/** For a step over a list: its start, its progress from time to time, and its outcome. */
function ofItems(was: StepView | undefined, step: StepView, { seen, mayTell }: Telling): string | undefined {
  const standing = standingOf(step, seen.run, seen.now);
  if (!standing) return undefined;
  if (step.state !== was?.state)
    return step.state === "running"
      ? `started, ${count(standing.total, "item")}`
      : `${step.state}${after(step, seen.now)}: ${sayItemsEnd(step, standing)}`;
  const moved = step.state === "running" && tellsMore(was?.items, step.items);
  return moved && mayTell(step.name) ? `${stepRanFor(step, seen.now)}  ${sayStanding(standing)}` : undefined;
}

function after(step: StepView, now: number): string {
  const time = stepRanFor(step, now) ?? stepWaitedFor(step, now);
  return time === undefined ? "" : `${step.state === "succeeded" ? " in" : " after"} ${time}`;
}

function ofOne(
  was: StepView | undefined,
  step: StepView,
  { before, seen: { now, whys }, mayTell }: Telling,
): string | undefined {
  const isSame = was?.state === step.state && was.attempt === step.attempt;
  const time = stepRanFor(step, now);
  switch (step.state) {
    case "pending":
      return undefined;
    case "waiting": {
      const why = whys.get(step.name);
      return why?.text && why.gist !== before?.whys.get(step.name)?.gist ? `waits: ${why.text}` : undefined;
    }
    case "answered":
      return isSame ? undefined : "answered";
    case "running":
      if (!isSame) return `started${step.attempt > 1 ? `, attempt ${step.attempt}` : ""}`;
      return tellsMore(was?.progress, step.progress) && mayTell(step.name)
        ? `${time}  ${sayProgress(step.progress)}`
        : undefined;
    case "later":
      return isSame ? undefined : `attempt ${step.attempt} did not succeed, will be retried`;
    case "succeeded":
      if (isSame) return undefined;
      return step.takenOver ? `reused from ${step.takenOver}` : `succeeded${after(step, now)}`;
    case "failed":
      return isSame ? undefined : `failed${after(step, now)}: ${sayError(step.error)}`;
    case "skipped":
      return isSame ? undefined : `skipped: ${saySkipped(step)}`;
    case "cancelled":
      return isSame ? undefined : "cancelled";
  }
}

const tellsMore = (before: unknown, now: unknown): boolean =>
  now !== undefined && JSON.stringify(before) !== JSON.stringify(now);
