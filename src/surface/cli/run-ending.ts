/** How runs and steps ended, and how long they took. */
import type { RunView, StepView } from "../../api/run-view.ts";
import { sayDuration } from "../../core/time.ts";
import type { StoredError } from "../../executor/executor.ts";
import type { RunState } from "../../store/store.ts";
import { ago, stateCell } from "./say.ts";
import type { Cell } from "./table.ts";
import { colours } from "./text.ts";

export const isOver = (state: RunState): boolean =>
  state === "succeeded" || state === "failed" || state === "cancelled";

/** The run that is rerun, paused and resumed with this one: the run at the top of its tree. */
export const rootOf = ({ id, child }: RunView): string => child?.root ?? id;

/** A sentence, or undefined if the run has not ended. Leave out `now` if the reader saw the run end. */
export function runEnding(run: RunView, now?: number): string | undefined {
  if (!isOver(run.state) || run.finishedAt === null) return undefined;
  const time = now === undefined ? "" : ` ${ago(run.finishedAt, now)}`;
  const took =
    run.startedAt === null
      ? ""
      : `${now === undefined ? "" : ","} after ${sayDuration(run.finishedAt - run.startedAt)}`;
  if (run.state === "succeeded") return `succeeded${time}${took}.`;
  if (run.state === "failed") return `failed${time}${took}: ${sayError(run.error)}`;
  const by = cancelledBy(run);
  return `was cancelled${time}${took}${by === undefined ? "" : `, ${by}`}.`;
}

/** "by root", if it is known who cancelled it. */
export function cancelledBy(run: RunView): string | undefined {
  const by = (run.error as { readonly by?: unknown } | undefined)?.by;
  return typeof by === "string" ? `by ${by}` : undefined;
}

export function runStateCell({ state, paused }: RunView): Cell {
  const cell = stateCell(state);
  return paused && !isOver(state) ? { text: `${state}, paused`, style: colours.yellow } : cell;
}

/** The time since its start, or undefined if it has not started. */
export function ranFor({ startedAt, finishedAt }: RunView, now: number): string | undefined {
  return startedAt === null ? undefined : sayDuration((finishedAt ?? now) - startedAt);
}

/**
 * The duration of its last attempt, from its claim. For a step over a list, from the claim of its first item.
 */
export function stepRanFor(
  { state, claimedAt, finishedAt, items }: StepView,
  now: number,
): string | undefined {
  const from = claimedAt ?? items?.since ?? null;
  const until = finishedAt ?? (state === "running" ? now : (items?.until ?? null));
  return from === null || until === null ? undefined : sayDuration(until - from);
}

/** How long a step waited for a time, an event or a person. Undefined for all other steps. */
export function stepWaitedFor({ wait, finishedAt }: StepView, now: number): string | undefined {
  return wait && sayDuration((finishedAt ?? now) - wait.since);
}

export function sayError(error: StoredError | undefined): string {
  if (!error) return "no error was stored";
  const { name = "Error", code, message } = error;
  // Sluice's own errors about a run or a step need no name in front.
  return code ? message : `${name}: ${message ?? JSON.stringify(error)}`;
}

/** Said without "was": it failed, but it was skipped. */
const ENDED_BY_ITSELF: ReadonlySet<string> = new Set(["succeeded", "failed"]);

/** Why a step never ran. */
export function saySkipped({ because }: StepView): string {
  if (because?.kind === "need")
    return `step ${because.step} ${ENDED_BY_ITSELF.has(because.was) ? because.was : `was ${because.was}`}`;
  if (because?.kind === "failFast") return `step ${because.step} failed, and the workflow has failFast`;
  return because ? "its condition is not met" : "";
}
