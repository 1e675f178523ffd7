/** Words that several listings share. */
import type { LimitView } from "../../api/limits.ts";
import type { StepViewState } from "../../api/run-view.ts";
import type { Limit } from "../../core/gate/gate.ts";
import { isInvalid, UNLIMITED } from "../../core/gate/gate.ts";
import { ANY, parseKey } from "../../core/gate/key.ts";
import { isoTime, sayDuration } from "../../core/time.ts";
import type { RunState, TaskState } from "../../store/store.ts";
import type { Cell, Style } from "./table.ts";
import { colours } from "./text.ts";

export function sayLimit(limit: Limit): string {
  if (limit === null) return "unset";
  // Only plain SQL can write a number this large. It cannot be shown exactly, and no gate ever holds so many
  // slots.
  return limit === UNLIMITED || limit > Number.MAX_SAFE_INTEGER ? "∞" : String(limit);
}

/**
 * `2/5`, `3/∞`, `7/5 draining`, `0/0 paused`, `1/1 1 stopping`, `-/unset`, `0/-5 invalid`. For a limit per
 * value: `5 each`.
 */
export function sayUse(
  view: Pick<LimitView, "key" | "held" | "limit" | "paused" | "draining"> &
    Partial<Pick<LimitView, "stopping">>,
): Cell {
  const { key, held, limit, draining, stopping = [] } = view;
  if (limit === null) return { text: "-/unset", style: colours.red };
  if (isInvalid(limit)) return { text: `${held}/${limit} invalid`, style: colours.red };
  if (parseKey(key).value === ANY) return { text: `${sayLimit(limit)} each` };
  const paused = view.paused || limit === 0;
  const notes = [
    ...(paused ? ["paused"] : []),
    ...(draining ? ["draining"] : []),
    ...(stopping.length > 0 ? [`${stopping.length} stopping`] : []),
  ];
  const text = [`${held}/${sayLimit(limit)}`, notes.join(", ")].join(" ").trim();
  return { text, style: notes.length > 0 ? colours.yellow : undefined };
}

const STATE_STYLES: Readonly<Record<string, Style | undefined>> = {
  running: colours.cyan,
  claimed: colours.cyan,
  started: colours.cyan,
  skipped: colours.dim,
  pending: colours.dim,
  answered: colours.green,
  succeeded: colours.green,
  failed: colours.red,
  quarantined: colours.red,
  expired: colours.yellow,
  cancelled: colours.dim,
};

export function stateCell(state: TaskState | RunState | StepViewState): Cell {
  return { text: state, style: STATE_STYLES[state] };
}

/** `env=prod, tenant=acme`, or a dash if there are no tags. */
export function sayTags(tags: Readonly<Record<string, string>>): string {
  const said = Object.entries(tags).map(([key, value]) => `${key}=${value}`);
  return said.join(", ") || "-";
}

export function ago(at: number, now: number): string {
  return at > now ? `in ${sayDuration(at - now)}` : `${sayDuration(now - at)} ago`;
}

export function when(at: number, now: number): string {
  return `${isoTime(at)} (${ago(at, now)})`;
}

export function count(many: number, noun: string): string {
  return many === 1 ? `1 ${noun}` : `${many} ${noun}s`;
}

/** The local time of the reader. */
export function localTime(at: number = Date.now()): string {
  return colours.dim(new Date(at).toTimeString().slice(0, 8));
}
