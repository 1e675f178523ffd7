/**
 * The kinds of changes that the feed records: the events of histories, changes of runs and steps as a whole,
 * and a few that no history keeps. Each kind belongs to a topic. A listener names the topics it wants, so
 * that nothing else is recorded for it.
 */
import type { EventKind, FeedEventKind } from "./event.ts";
import type { RunEventKind } from "./run/event.ts";

/** A listener's topics are stored as the sum of these numbers. */
export const TOPIC = {
  enqueued: 1,
  claimed: 2,
  ended: 4,
  /** A unit goes back in line, or gets another place in it. */
  moved: 8,
  logged: 16,
  /** Runs and steps as a whole. Changes of their units come under the other topics. */
  run: 32,
  gate: 64,
  worker: 128,
  lane: 256,
  trigger: 512,
  signal: 1024,
} as const;

export type Topic = keyof typeof TOPIC;

export const ALL_TOPICS = Object.values(TOPIC).reduce<number>((all, one) => all + one, 0);

/** The changes recorded for a run or step as a whole, named as in its history. */
type OfWholeRun = Extract<
  RunEventKind,
  "RunStarted" | "RunPaused" | "RunResumed" | "StepReady" | "StepSucceeded" | "StepFailed" | "StepCancelled"
>;

/**
 * A kind as it is recorded. Users see the changes of a run's units under the names that the run's history
 * uses.
 */
export type ChangeKind = EventKind | OfWholeRun | Exclude<FeedEventKind, "StepLogged" | "StepReprioritized">;

const TOPIC_OF: Readonly<Record<ChangeKind, Topic | null>> = {
  TaskEnqueued: "enqueued",
  TaskClaimed: "claimed",
  TaskSucceeded: "ended",
  TaskFailed: "ended",
  TaskCancelled: "ended",
  TaskExpired: "ended",
  TaskQuarantined: "ended",
  TaskStarted: "moved",
  TaskRetried: "moved",
  TaskReturned: "moved",
  TaskLost: "moved",
  TaskReprioritized: "moved",
  StepSlotRenewed: "moved",
  TaskLogged: "logged",
  RunStarted: "run",
  RunPaused: "run",
  RunResumed: "run",
  StepReady: "run",
  StepWaiting: "run",
  StepAnswered: "run",
  StepSkipped: "run",
  StepSucceeded: "run",
  StepFailed: "run",
  StepCancelled: "run",
  SignalSent: "signal",
  LimitChanged: "gate",
  LimitReset: "gate",
  LimitDeclared: "gate",
  GatePaused: "gate",
  GateResumed: "gate",
  WorkerStarted: "worker",
  WorkerStopped: "worker",
  WorkerLost: "worker",
  LaneSetAside: "lane",
  LaneRestored: "lane",
  // The gates that a lane waits for are not a change: a pass may write them at any time.
  LaneWaiting: null,
  TriggerSet: "trigger",
  TriggerRemoved: "trigger",
  TriggerPaused: "trigger",
  TriggerResumed: "trigger",
};

const isKind = (text: string): text is ChangeKind => Object.hasOwn(TOPIC_OF, text);

/** Null for kinds that the feed leaves out. */
export const topicOf = (kind: ChangeKind): Topic | null => TOPIC_OF[kind];

export const RECORDED_KINDS: readonly ChangeKind[] = Object.keys(TOPIC_OF)
  .filter(isKind)
  .filter((kind) => topicOf(kind) !== null);
