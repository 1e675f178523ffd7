/** A step that waits, as users and programs see it. */
import type { Reason } from "../core/gate/reason.ts";
import type { WaitedFor } from "../core/workflow/graph.ts";
import type { WaitRow } from "../store/store.ts";
import { readable } from "./readable.ts";

/** How a wait ended. */
interface AnswerView {
  readonly at: number;
  readonly how: "signal" | "approved" | "rejected" | "time";
  /** The ID of the signal. */
  readonly signal?: string;
  readonly by?: string;
  readonly note?: string;
}

export interface WaitStepView {
  readonly for: WaitedFor["for"];
  readonly since: number;
  /** When its time is up. Null if it waits for as long as it takes. */
  readonly until: number | null;
  readonly event?: string;
  readonly match?: Readonly<Record<string, unknown>>;
  readonly question?: string;
  /** Who may answer, if not everybody. */
  readonly by?: readonly string[];
  readonly answer?: AnswerView;
}

export function waitView({ since, told, answeredAt, answer }: WaitRow): WaitStepView {
  const { ms, at, ...what } = readable(told) as Omit<WaitStepView, "since" | "until"> & {
    readonly ms?: number;
    readonly at?: number;
  };
  const until = at ?? (ms === undefined ? null : since + ms);
  const start = { ...what, since, until };
  if (answeredAt === null || answer === null) return start;
  const { state: _, ...how } = readable(answer) as Omit<AnswerView, "at"> & { readonly state: string };
  return { ...start, answer: { at: answeredAt, ...how } };
}

/** Why such a step does not go on. */
export function awaits(run: string, step: string, view: WaitStepView): Reason {
  const { since: _since, answer: _answer, ...what } = view;
  return { kind: "awaits", run, step, ...what };
}
