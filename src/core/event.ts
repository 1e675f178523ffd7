/**
 * The kinds of events that a store keeps for units, lanes, gates and triggers, with their meaning and data.
 * Data is JSON; an empty list of fields means that there is none. A few more kinds are in no history: only
 * the feed reports them.
 */
export interface EventMeaning {
  readonly means: string;
  readonly data: Readonly<Record<string, string>>;
}

const WHO = { by: "who did it" };
const CHANGE = { ...WHO, from: "the limit before", to: "the limit in force now" };
const ERROR = { name: "the error's name", message: "what it said", code: "its code, if it has one" };

/** The subject is a unit: a task, a step or a run. */
const OF_UNITS = {
  TaskEnqueued: {
    means: "It was put in line, or will be when its delay has passed.",
    data: { priority: "its first priority" },
  },
  TaskClaimed: {
    means: "A worker took it from the line, with all its slots.",
    data: {
      attempt: "the number of the attempt",
      epoch: "the epoch of the claim, its `fence`",
      session: "the session that holds it",
    },
  },
  TaskStarted: { means: "Its code has started.", data: {} },
  TaskLogged: {
    means: "Its code logged a line.",
    data: { message: "the line", data: "the data logged with it" },
  },
  TaskRetried: {
    means: "An attempt failed and another follows; or somebody put it back in line.",
    data: {
      delayMs: "how long it waits",
      error: "what failed",
      by: "who put it back",
      was: "its state before that",
    },
  },
  TaskReturned: {
    means: "It went back in line without losing an attempt: its code had not started.",
    data: ERROR,
  },
  TaskLost: { means: "Its worker was lost while its code ran; another attempt follows.", data: ERROR },
  TaskReprioritized: {
    means: "Its priority was changed.",
    data: { ...WHO, from: "the priority before", to: "the new one" },
  },
  TaskSucceeded: { means: "It succeeded.", data: {} },
  TaskFailed: { means: "It failed, and no attempt is left.", data: ERROR },
  TaskCancelled: { means: "It was cancelled.", data: WHO },
  TaskExpired: { means: "Its deadline passed before it started.", data: ERROR },
  TaskQuarantined: { means: "It lost its worker three times and is not retried automatically.", data: ERROR },
  StepSlotRenewed: { means: "The lease of a pool that it holds was renewed.", data: {} },
} as const satisfies Record<string, EventMeaning>;

/** The subject is a lane. */
const OF_LANES = {
  LaneWaiting: {
    means: "The gates that the lane waits for have changed.",
    data: { "[ … ]": "the keys of the gates that block it; empty when it moves" },
  },
  LaneRestored: { means: "A lane that was set aside was put back.", data: WHO },
} as const satisfies Record<string, EventMeaning>;

/** The subject is the key of a gate. */
const OF_GATES = {
  LimitChanged: { means: "Somebody set the limit.", data: CHANGE },
  LimitReset: { means: "Somebody reset the limit to what the apps declare.", data: CHANGE },
  GatePaused: { means: "The gate was paused.", data: CHANGE },
  GateResumed: { means: "The gate was resumed.", data: CHANGE },
} as const satisfies Record<string, EventMeaning>;

/** The subject is a schedule, a sensor or an automation. */
const OF_TRIGGERS = {
  TriggerPaused: { means: "It was paused.", data: WHO },
  TriggerResumed: { means: "It was resumed.", data: WHO },
} as const satisfies Record<string, EventMeaning>;

/** Reported by the feed, kept in no history. */
const OF_FEED = {
  StepSkipped: { means: "A step of a run was skipped.", data: { because: "why" } },
  StepLogged: {
    means: "The code of a step logged a line.",
    data: { message: "the line", data: "what came with it" },
  },
  StepReprioritized: {
    means: "The priority of a step was changed.",
    data: { ...WHO, from: "the priority before", to: "the new one" },
  },
  LimitDeclared: {
    means: "An app declared a limit, and with it another one is in force.",
    data: { app: "the app", from: "the limit before", to: "the limit in force now" },
  },
  LaneSetAside: { means: "A lane could not be processed and was set aside.", data: { error: "why" } },
  WorkerStarted: {
    means: "A worker has started.",
    data: { name: "its name", slots: "how many slots it has" },
  },
  WorkerStopped: { means: "A worker has stopped.", data: { name: "its name" } },
  WorkerLost: { means: "A worker was not heard of until its lease had run out.", data: { name: "its name" } },
} as const satisfies Record<string, EventMeaning>;

export const FEED_EVENTS: Readonly<Record<keyof typeof OF_FEED, EventMeaning>> = OF_FEED;

export type FeedEventKind = keyof typeof OF_FEED;

export const EVENTS = { ...OF_UNITS, ...OF_LANES, ...OF_GATES, ...OF_TRIGGERS } as const;

export type EventKind = keyof typeof EVENTS;

export const isEventKind = (text: string): text is EventKind => Object.hasOwn(EVENTS, text);

/** The kinds grouped by subject. */
export const EVENT_GROUPS: readonly (readonly [
  title: string,
  kinds: Readonly<Record<string, EventMeaning>>,
])[] = [
  ["Tasks, steps and runs", OF_UNITS],
  ["Lanes", OF_LANES],
  ["Gates", OF_GATES],
  ["Schedules, sensors and automations", OF_TRIGGERS],
];
