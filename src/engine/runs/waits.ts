/** A step that begins to wait, as rows: what it waits for, until when, and what it ends with if that time is up. */

import type { BeginningWait } from "../../core/run/progress.ts";
import { bytesOf, inByteOrder, LONGEST_LIST } from "../../core/text.ts";
import { sayDuration } from "../../core/time.ts";
import type { Scalar } from "../../core/workflow/event.ts";
import { isScalar } from "../../core/workflow/event.ts";
import type { WaitedFor, WaitStep } from "../../core/workflow/graph.ts";
import type { Json } from "../../core/workflow/template.ts";
import { timeOf } from "../../core/workflow/time-of.ts";
import type { NewWait, StepMove } from "../../store/runs.ts";
import { boundedText } from "./stored-json.ts";

/** A step whose time or match makes no sense fails and says why. */
export function beginToWait(waiting: BeginningWait, most: number): StepMove & { readonly size: number } {
  const { step } = waiting;
  const refused = problemOf(waiting);
  if (refused !== undefined) {
    const message = `step "${step.name}": ${refused}`;
    const body = JSON.stringify({ name: "Error", code: "BAD_WAIT", message });
    return { name: step.name, state: "failed", unit: null, body, size: body.length };
  }
  const wait = waitOf(waiting, most);
  const size = wait.told.length + (wait.late?.body?.length ?? 0);
  return { name: step.name, state: "open", unit: null, body: null, wait, size };
}

function waitOf({ step, input = null, otherwise }: BeginningWait, most: number): NewWait {
  const { wait } = step;
  if (wait.for === "sleep")
    return {
      event: null,
      until: { afterMs: wait.ms },
      late: DONE,
      told: JSON.stringify({ for: "sleep", ms: wait.ms }),
    };
  if (wait.for === "until") {
    const at = timeOf(input) as number;
    return { event: null, until: { at }, late: DONE, told: JSON.stringify({ for: "until", at }) };
  }
  const { timeoutMs } = wait;
  const match = wait.for === "event" ? matchOf(input) : [];
  return {
    event: wait.for === "event" ? { name: wait.event, match } : null,
    until: timeoutMs === null ? null : { afterMs: timeoutMs },
    late: timeoutMs === null ? null : late(step, wait, timeoutMs, otherwise, most),
    told: JSON.stringify({ ...toldOf(wait, match, input), ...(timeoutMs === null ? {} : { ms: timeoutMs }) }),
  };
}

const DONE = { state: "succeeded", body: "null" } as const;

function toldOf(
  wait: Exclude<WaitedFor, { for: "sleep" | "until" }>,
  match: readonly (readonly [string, Scalar])[],
  input: Json,
): object {
  if (wait.for === "event") return { for: "event", event: wait.event, match: Object.fromEntries(match) };
  return { for: "approval", question: input, ...(wait.by ? { by: wait.by } : {}) };
}

/** The answer when the timeout has passed. */
function late(
  { name }: WaitStep,
  wait: Exclude<WaitedFor, { for: "sleep" | "until" }>,
  timeoutMs: number,
  otherwise: Json | undefined,
  most: number,
): NewWait["late"] {
  if (otherwise !== undefined)
    return { state: "succeeded", body: boundedText(`The otherwise of step "${name}"`, otherwise, most) };
  const missing = wait.for === "event" ? `No event "${wait.event}" that matches was sent` : "Nobody answered";
  const message = `${missing} within ${sayDuration(timeoutMs)}.`;
  return { state: "failed", body: JSON.stringify({ name: "Error", code: "WAIT_TIMEOUT", message }) };
}

const matchOf = (input: Json): (readonly [string, Scalar])[] =>
  Object.entries(input as Readonly<Record<string, Scalar>>).sort(([a], [b]) => inByteOrder(a, b));

function problemOf({ step, input = null }: BeginningWait): string | undefined {
  switch (step.wait.for) {
    case "sleep":
      return undefined;
    case "until":
      return timeOf(input) === undefined
        ? `its time must be a text with a time zone like 2026-11-19T08:00:00Z, or milliseconds since 1970, but is ${shown(input)}.`
        : undefined;
    case "approval":
      if (typeof input !== "string" || input.trim() === "")
        return `its question must be a text, but is ${shown(input)}.`;
      return bytesOf(input) > LONGEST_LIST
        ? `its question is longer than ${LONGEST_LIST} bytes. Shorten it.`
        : undefined;
    case "event":
      return matchProblem(step, input);
  }
}

/** A field without a value is not in the input, but the step would wait for it. */
function matchProblem({ input: template }: WaitStep, input: Json): string | undefined {
  const values = input as Readonly<Record<string, Json>>;
  for (const field of Object.keys(template as object))
    if (!isScalar(values[field]))
      return `match.${field} must be a text, a number, true or false, but is ${shown(values[field] ?? null)}.`;
  return bytesOf(JSON.stringify(input)) > LONGEST_LIST
    ? `its match is longer than ${LONGEST_LIST} bytes. Compare shorter values, such as an ID.`
    : undefined;
}

function shown(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
