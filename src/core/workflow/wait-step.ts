/** Turns a planned step that waits into a step of the graph. */
import type { Duration } from "../time.ts";
import { parseDuration } from "../time.ts";
import type { AnyEvent } from "./event.ts";
import type { WaitedFor, WaitStep } from "./graph.ts";
import type { PlannedWaitStep } from "./steps.ts";
import type { PlannedWait } from "./waiting.ts";

/** The app check has found nothing wrong with it. */
export function waitStep({ name, input, needs, when, wait, otherwise, options }: PlannedWaitStep): WaitStep {
  return {
    kind: "wait",
    name,
    input,
    each: null,
    needs,
    when,
    wait: waitedFor(wait),
    ...(otherwise === undefined ? {} : { otherwise }),
    mayFail: options.mayFail ?? false,
  };
}

function waitedFor(wait: PlannedWait): WaitedFor {
  switch (wait.for) {
    case "sleep":
      return { for: "sleep", ms: parseDuration(wait.duration as Duration) };
    case "until":
      return { for: "until" };
    case "event":
      return { for: "event", event: idOfEvent(wait.event), timeoutMs: millis(wait.timeout) };
    case "approval":
      return {
        for: "approval",
        by: (wait.by ?? null) as readonly string[] | null,
        timeoutMs: millis(wait.timeout),
      };
  }
}

export const idOfEvent = (event: unknown): string =>
  typeof event === "string" ? event : String((event as AnyEvent | undefined)?.id);

const millis = (duration: unknown): number | null =>
  duration === undefined ? null : parseDuration(duration as Duration);
