/**
 * Steps that wait for a time, an event or a person, and the signals that are sent of events.
 *
 * A waiting step has a row, but no unit, so it holds nothing. Whatever ends the wait writes an answer into that
 * row and leaves news of the run; the first answer stays. Only `advance` ends the step, under the run's lock.
 * The row stays until the run ends, because it says which signal the step has taken.
 *
 * A signal is stored for a while, because the step that waits for it may begin to wait a moment later. A signal
 * and a step that begins to wait lock the topic of their event. So one of the two sees the other.
 */
import type { Scalar } from "../../core/workflow/event.ts";
import type { StepKey } from "./step-key.ts";
import { keyOfStep } from "./step-key.ts";

export interface WaitPort {
  /** Stores a signal and answers the steps that wait for it: in each run, at most one. */
  signal(signal: NewSignal): Promise<Signalled>;
  /** False if the step has an answer already. Undefined if no such step waits. */
  answerWait(wait: StepKey, answer: WaitAnswer): Promise<boolean | undefined>;
  /** The time of a wait is up: its own answer to that counts, unless it has another one already. */
  lapseWait(wait: StepKey): Promise<boolean>;
}

export interface NewWait {
  readonly event: AwaitedEvent | null;
  /** When its time is up, from now or as an instant. Null if it waits for as long as it takes. */
  readonly until: { readonly afterMs: number } | { readonly at: number } | null;
  /** The answer when its time is up. */
  readonly late: Pick<WaitAnswer, "state" | "body"> | null;
  /** JSON text of what it waits for, for the history. */
  readonly told: string;
}

export interface AwaitedEvent {
  readonly name: string;
  /** Fields of the payload and the values that they must have, sorted by field. */
  readonly match: readonly (readonly [field: string, value: Scalar])[];
}

export interface WaitAnswer {
  readonly state: "succeeded" | "failed";
  /** JSON text: the output of the step, or its error. */
  readonly body: string | null;
  /** JSON text of how it was answered, for the history. */
  readonly told: string;
}

export interface NewSignal {
  readonly id: string;
  readonly event: string;
  /** JSON text. */
  readonly payload: string;
  /** How long it is kept for steps that begin to wait later. */
  readonly keepMs: number;
  /** A second signal of the event with the same key changes nothing while the first is kept. */
  readonly key: string | null;
}

export interface Signalled {
  /** The ID of the signal, or of the first signal with its key. */
  readonly id: string;
  readonly created: boolean;
  /** How many steps it has answered. */
  readonly woken: number;
}

/** A wait as it is told: what for, since when, and how it was answered. */
export interface WaitRow {
  readonly since: number;
  /** JSON text. */
  readonly told: string;
  readonly answeredAt: number | null;
  /** JSON text. */
  readonly answer: string | null;
}

/** The subject of the history of a wait. The timer of the wait has it as its ID. */
export const waitSubject = keyOfStep;

/** The reverse. The ID of a run has no slash. */
export function waitOfSubject(subject: string): StepKey {
  const end = subject.indexOf("/");
  return { run: subject.slice(0, end), step: subject.slice(end + 1) };
}

/** The most top-level fields of a payload that steps can compare: texts, numbers, true and false. */
export const MOST_FIELDS = 100;

/** The lapse of a wait, as the history tells it. */
export const LAPSED = '{"how":"time"}';

/** Signals are deleted this long after their keep time is over, and at most so many with one poll. */
export const SWEEP_AFTER_MS = 60_000;
export const SIGNALS_AT_ONCE = 1_000;
