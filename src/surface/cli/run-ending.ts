/** How runs and steps have come to their end, and how long it took. */
import type { RunView, StepView } from "../../api/run-view.ts";
import { sayDuration } from "../../core/time.ts";
import type { StoredError } from "../../executor/executor.ts";
import type { RunState } from "../../store/store.ts";
import { ago, stateCell } from "./say.ts";
import type { Cell } from "./table.ts";
import { colours } from "./text.ts";

export const isOver = (state: RunState): boolean =>
  state === "succeeded" || state === "failed" || state === "cancelled";

/** A sentence; undefined while it has not ended. Without `now` for whoever saw it end. */
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

/** "by root", where somebody is known. */
export function cancelledBy(run: RunView): string | undefined {
  const by = (run.error as { readonly by?: unknown } | undefined)?.by;
  return typeof by === "string" ? `by ${by}` : undefined;
}

export function runStateCell({ state, paused }: RunView): Cell {
  const cell = stateCell(state);
  return paused && !isOver(state) ? { text: `${state}, paused`, style: colours.yellow } : cell;
}

/** From its start; undefined while it has none. */
export function ranFor({ startedAt, finishedAt }: RunView, now: number): string | undefined {
  return startedAt === null ? undefined : sayDuration((finishedAt ?? now) - startedAt);
}

/** Its last attempt, from the claim on; a step over a list from the claim of its first item on. */
export function stepRanFor(
  { state, claimedAt, finishedAt, items }: StepView,
  now: number,
): string | undefined {
  const from = claimedAt ?? items?.since ?? null;
  const until = finishedAt ?? (state === "running" ? now : (items?.until ?? null));
  return from === null || until === null ? undefined : sayDuration(until - from);
}

export function sayError(error: StoredError | undefined): string {
  if (!error) return "no error was stored";
  const { name = "Error", code, message } = error;
  // What Sluice itself says of a run or a step needs no name before it.
  return code ? message : `${name}: ${message ?? JSON.stringify(error)}`;
}

/** Why a step never ran. */
export function saySkipped({ because }: StepView): string {
  if (because?.kind === "need")
    return `step ${because.step} ${because.was === "failed" ? "failed" : `was ${because.was}`}`;
  if (because?.kind === "failFast") return `step ${because.step} failed, and nothing starts after a failure`;
  return because ? "its condition is not met" : "";
}
