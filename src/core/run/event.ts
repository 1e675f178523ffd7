/**
 * The events in the history of a run. They are not stored as such, but derived from the events of the run's
 * units and gates.
 */
import type { EventMeaning } from "../event.ts";

const POOLS = { pools: "the names of its pools" };

export const RUN_EVENTS = {
  RunQueued: { means: "The run was put in line.", data: { priority: "its priority" } },
  RunDequeued: { means: "The run was admitted.", data: { priority: "its priority then" } },
  RunRequeued: { means: "No worker started it in time, and it went back in line.", data: {} },
  RunReprioritized: {
    means: "Its priority was changed.",
    data: { by: "who did it", from: "the priority before", to: "the new one" },
  },
  RunStarted: { means: "Its first steps were put in line.", data: {} },
  RunPaused: { means: "It was paused: no further step starts.", data: { by: "who did it" } },
  RunResumed: { means: "It was resumed.", data: { by: "who did it" } },
  RunSucceeded: { means: "It succeeded.", data: {} },
  RunFailed: { means: "It failed.", data: { message: "why" } },
  RunCancelled: { means: "It was cancelled.", data: { by: "who did it" } },
  StepReady: {
    means: "Everything the step needs is done, and it was put in line.",
    data: { items: "how many items, for a step over a list" },
  },
  StepSlotWaiting: {
    means: "The step waits for slots.",
    data: { reason: "the reason, in words", gates: "the keys of the gates" },
  },
  StepSlotClaimed: { means: "The step holds slots of its pools.", data: POOLS },
  StepSlotRenewed: { means: "The lease of its pools was renewed.", data: {} },
  StepSlotReleased: { means: "The step released the slots of its pools.", data: POOLS },
  StepStarted: { means: "An attempt of the step started.", data: { attempt: "the number of the attempt" } },
  StepRetried: {
    means: "An attempt failed and another follows.",
    data: { delayMs: "how long it waits", error: "what failed" },
  },
  StepReturned: { means: "The step went back in line without losing an attempt.", data: {} },
  StepLost: { means: "Its worker was lost; another attempt follows.", data: {} },
  StepSucceeded: { means: "The step succeeded.", data: {} },
  StepFailed: { means: "The step failed.", data: { message: "why" } },
  StepCancelled: { means: "The step was cancelled.", data: { by: "who did it" } },
  StepExpired: { means: "Its deadline passed before it started.", data: {} },
  StepQuarantined: { means: "It lost its worker three times and is not retried automatically.", data: {} },
} as const satisfies Record<string, EventMeaning>;

export type RunEventKind = keyof typeof RUN_EVENTS;
