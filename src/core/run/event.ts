/**
 * The events in the history of a run. They are not stored as such, but derived from the events of the run's
 * units and gates.
 */
import type { EventMeaning } from "../event.ts";
import { ANSWERED, ERROR, WAITS_FOR } from "../event.ts";

/** Only the history of a run has them, for a step over a list. */
const COUNTS = {
  succeeded: "the number of items that succeeded (only in the history, for a step over a list)",
  failed: "the number that failed",
  cancelled: "the number that were cancelled",
};
const POOLS = { pools: "the names of its pools" };

export const RUN_EVENTS = {
  RunQueued: { means: "The run was put in line.", data: { priority: "its priority" } },
  RunDequeued: { means: "The run was admitted.", data: { priority: "its priority at that time" } },
  RunRequeued: {
    means:
      "The run went back in line: no worker started it in time, or it had given its slots up and goes on.",
    data: ERROR,
  },
  RunReprioritized: {
    means: "The priority of the run was changed.",
    data: { by: "who did it", from: "the priority before", to: "the new one" },
  },
  RunStarted: { means: "The first steps of the run were put in line.", data: {} },
  RunPaused: { means: "The run was paused: no further step starts.", data: { by: "who did it" } },
  RunResumed: { means: "The run was resumed.", data: { by: "who did it" } },
  RunSucceeded: { means: "The run succeeded.", data: {} },
  RunFailed: {
    means: "The run failed.",
    data: { ...ERROR, steps: "the steps that did not succeed" },
  },
  RunCancelled: { means: "The run was cancelled.", data: { by: "who did it" } },
  StepReady: {
    means: "The needs of the step are met, and it was put in line.",
    data: {
      priority: "its priority, for a step that is one task",
      items: "the number of items, for a step over a list",
    },
  },
  StepWaiting: { means: "The step waits for a time, an event or a person.", data: WAITS_FOR },
  StepAnswered: { means: "The step has what it waited for, or its time is up.", data: ANSWERED },
  StepSlotWaiting: {
    means: "The step waits for slots. There is one event per wait.",
    data: { reason: "the reason, in words", gates: "the keys of the gates" },
  },
  StepSlotClaimed: { means: "The step holds slots of its pools.", data: POOLS },
  StepSlotRenewed: { means: "The lease of its pools was renewed.", data: {} },
  StepSlotReleased: { means: "The step released the slots of its pools.", data: POOLS },
  StepStarted: { means: "An attempt of the step started.", data: { attempt: "the number of the attempt" } },
  StepRetried: {
    means: "An attempt failed and another attempt follows.",
    data: { delayMs: "the delay before the next attempt", error: "the error of the attempt" },
  },
  StepReturned: { means: "The step went back in line and kept its attempt.", data: ERROR },
  StepLost: { means: "The worker of the step was lost. Another attempt follows.", data: ERROR },
  StepSucceeded: { means: "The step succeeded.", data: COUNTS },
  StepFailed: { means: "The step failed.", data: { ...ERROR, ...COUNTS } },
  StepCancelled: { means: "The step was cancelled.", data: { by: "who did it", ...COUNTS } },
  StepExpired: { means: "The deadline of the step passed before it started.", data: ERROR },
  StepQuarantined: {
    means: "The step lost its worker three times. It is not retried automatically.",
    data: ERROR,
  },
} as const satisfies Record<string, EventMeaning>;

export type RunEventKind = keyof typeof RUN_EVENTS;
