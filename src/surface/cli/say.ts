/** The few words that several listings share. */
import type { LimitView } from "../../api/limits.ts";
import type { Limit } from "../../core/gate/gate.ts";
import { UNLIMITED } from "../../core/gate/gate.ts";
import { ANY, parseKey } from "../../core/gate/key.ts";
import { isoTime, sayDuration } from "../../core/time.ts";
import type { TaskState } from "../../store/store.ts";
import type { Cell, Style } from "./table.ts";
import { colours } from "./text.ts";

export function sayLimit(limit: Limit): string {
  if (limit === null) return "unset";
  return limit === UNLIMITED ? "∞" : String(limit);
}

/** `2/5`, `3/∞`, `7/5 draining`, `0/0 paused`, `-/unset`; `5 each` where every value has a gate of its own. */
export function sayUse(view: Pick<LimitView, "key" | "held" | "limit" | "paused" | "draining">): Cell {
  const { key, held, limit, draining } = view;
  if (limit === null) return { text: "-/unset", style: colours.red };
  if (parseKey(key).value === ANY) return { text: `${sayLimit(limit)} each` };
  const paused = view.paused || limit === 0;
  const notes = [...(paused ? ["paused"] : []), ...(draining ? ["draining"] : [])];
  const text = [`${held}/${sayLimit(limit)}`, notes.join(", ")].join(" ").trim();
  return { text, style: notes.length > 0 ? colours.yellow : undefined };
}

const STATE_STYLES: Partial<Record<TaskState, Style>> = {
  running: colours.cyan,
  claimed: colours.cyan,
  succeeded: colours.green,
  failed: colours.red,
  quarantined: colours.red,
  expired: colours.yellow,
  cancelled: colours.dim,
};

export function stateCell(state: TaskState): Cell {
  return { text: state, style: STATE_STYLES[state] };
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
