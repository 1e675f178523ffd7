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
const LIMITS = {
  from: "the limit before: -1 is unlimited, null is unset (a pool without a limit, which admits nothing)",
  to: "the limit in force now",
};
const CHANGE = { ...WHO, ...LIMITS };
/** The data of a failure. Only the message is always there. */
export const ERROR = {
  name: "the error's name",
  message: "its message",
  code: "its code, if it has one",
  stack: "its stack, if it has one",
  cause: "the error that led to it",
  errors: "the first errors of an AggregateError",
  reasons: "the gates that it waited for, if it waited too long",
};

/** The subject is a unit: a task, a step or a run. */
const OF_UNITS = {
  TaskEnqueued: {
    means: "It was enqueued. If it has a delay, it is put in line when the delay has passed.",
    data: { priority: "its priority at that time" },
  },
  TaskClaimed: {
    means:
      "A worker took it from the line, with all its slots. A task claimed in advance (`prefetch`) gets its slots when it starts.",
    data: {
      attempt: "the number of the attempt",
      epoch: "the `fence` of the claim",
      session: "the ID of the worker that holds it",
    },
  },
  TaskStarted: {
    means:
      "A task that was claimed in advance (`prefetch`) got its slots and started. Other tasks start with their claim.",
    data: {},
  },
  TaskLogged: {
    means: "Its code logged a line.",
    data: { message: "the line", data: "the data logged with it" },
  },
  TaskRetried: {
    means: "An attempt failed and another attempt follows. Or somebody retried it by hand.",
    data: {
      delayMs: "the delay before the next attempt",
      error: "the error of the attempt",
      by: "who retried it by hand",
      was: "its state before that",
    },
  },
  TaskReturned: {
    means:
      "It went back in line and kept its attempt, because its code had not started or its worker was stopping.",
    data: ERROR,
  },
  TaskLost: { means: "Its worker was lost while its code ran. Another attempt follows.", data: ERROR },
  TaskReprioritized: {
    means: "Its priority was changed.",
    data: { ...WHO, from: "the priority before", to: "the new one" },
  },
  TaskSucceeded: { means: "It succeeded.", data: {} },
  TaskFailed: { means: "It failed, and no attempt is left.", data: ERROR },
  TaskCancelled: { means: "It was cancelled.", data: WHO },
  TaskExpired: { means: "Its deadline passed before it started.", data: ERROR },
  TaskQuarantined: { means: "It lost its worker three times and is not retried automatically.", data: ERROR },
  StepSlotRenewed: {
    means: "The lease of its pools was renewed. A task outside of a run has this event too.",
    data: {},
  },
} as const satisfies Record<string, EventMeaning>;

/** The subject is a lane. */
const OF_LANES = {
  LaneWaiting: {
    means:
      "The gates that a lane waits for have changed. A lane consists of the waiting units of one task or one workflow that have the same asks.",
    data: {
      "[ … ]":
        "the keys of the gates that block the lane. `run:ID` means that the run is paused. The list is empty if no gate blocks the lane",
    },
  },
  LaneRestored: { means: "A lane that was set aside was put back in line.", data: WHO },
} as const satisfies Record<string, EventMeaning>;

/** What a step waits for. */
export const WAITS_FOR = {
  for: "what it waits for: `sleep`, `until`, `event` or `approval`",
  ms: "how long it waits",
  at: "the time until which it waits",
  event: "the event",
  match: "the fields and values that a payload must have",
  question: "the question",
  by: "who may answer",
};
/** How a step that waits was answered. */
export const ANSWERED = {
  how: "by a `signal`, because it was `approved` or `rejected`, or because the `time` is up",
  state: "whether the step succeeds or fails",
  signal: "the ID of the signal",
  by: "who answered",
  note: "what they said",
};

/** The subject is a step that waits, as `RUN/STEP`. */
const OF_WAITS = {
  StepWaiting: { means: "The step waits for a time, an event or a person.", data: WAITS_FOR },
  StepAnswered: { means: "The step has what it waited for, or its time is up.", data: ANSWERED },
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
  TriggerSet: {
    means: "It was created or changed at run time.",
    data: { ...WHO, spec: "what it starts, and when" },
  },
  TriggerRemoved: { means: "It was removed at run time.", data: WHO },
  TriggerPaused: { means: "It was paused.", data: WHO },
  TriggerResumed: { means: "It was resumed.", data: WHO },
} as const satisfies Record<string, EventMeaning>;

/** Reported by the feed, kept in no history. */
const OF_FEED = {
  StepSkipped: { means: "A step of a run was skipped.", data: { because: "the reason" } },
  StepLogged: {
    means: "The code of a step logged a line.",
    data: { message: "the line", data: "the data logged with it" },
  },
  StepReprioritized: {
    means: "The priority of a step was changed.",
    data: { ...WHO, from: "the priority before", to: "the new one" },
  },
  SignalSent: {
    means: "A signal of an event was sent. The subject is the event.",
    data: { id: "the ID of the signal", woken: "how many steps it has answered" },
  },
  LimitDeclared: {
    means: "An app declared a limit, and this changed the limit in force.",
    data: { app: "the app", ...LIMITS },
  },
  LaneSetAside: {
    means: "A pass could not process a lane, so it set the lane aside.",
    data: { error: "the error" },
  },
  WorkerStarted: {
    means: "A worker has started.",
    data: { name: "its name", slots: "how many slots it has" },
  },
  WorkerStopped: { means: "A worker has stopped.", data: { name: "its name" } },
  WorkerLost: { means: "The lease of a worker ended without a renewal.", data: { name: "its name" } },
} as const satisfies Record<string, EventMeaning>;

export const FEED_EVENTS: Readonly<Record<keyof typeof OF_FEED, EventMeaning>> = OF_FEED;

export type FeedEventKind = keyof typeof OF_FEED;

export const EVENTS = { ...OF_UNITS, ...OF_WAITS, ...OF_LANES, ...OF_GATES, ...OF_TRIGGERS } as const;

export type EventKind = keyof typeof EVENTS;

export const isEventKind = (text: string): text is EventKind => Object.hasOwn(EVENTS, text);

/** The kinds grouped by subject. */
export const EVENT_GROUPS: readonly (readonly [
  title: string,
  kinds: Readonly<Record<string, EventMeaning>>,
])[] = [
  ["Tasks, steps and runs", OF_UNITS],
  ["Steps that wait", OF_WAITS],
  ["Lanes", OF_LANES],
  ["Gates", OF_GATES],
  ["Schedules, sensors and automations", OF_TRIGGERS],
];
