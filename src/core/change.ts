/**
 * What the feed records: the events of histories, what happens to a run and its steps as a whole, and what no history keeps.
 * Each kind belongs to a topic. Whoever follows the feed names the topics it wants, so that nothing else is recorded for it.
 */
import type { EventKind, FeedEventKind } from "./event.ts";
import type { RunEventKind } from "./run/event.ts";

/** A listener names the topics it wants as the sum of these numbers. */
export const TOPIC = {
  enqueued: 1,
  claimed: 2,
  ended: 4,
  /** A unit goes back in line, or gets another place in it. */
  moved: 8,
  logged: 16,
  /** Runs and their steps as a whole; what happens to their units comes under the other topics. */
  run: 32,
  gate: 64,
  worker: 128,
  lane: 256,
  trigger: 512,
} as const;

export type Topic = keyof typeof TOPIC;

export const ALL_TOPICS = Object.values(TOPIC).reduce<number>((all, one) => all + one, 0);

/** What is recorded of a run or a step as a whole, in the words of its history. */
type OfWholeRun = Extract<
  RunEventKind,
  "RunStarted" | "RunPaused" | "RunResumed" | "StepReady" | "StepSucceeded" | "StepFailed" | "StepCancelled"
>;

/** A kind as it is recorded. What people see of a unit of a run has the name that its run's history uses. */
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
  StepSkipped: "run",
  StepSucceeded: "run",
  StepFailed: "run",
  StepCancelled: "run",
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
  // What a lane waits for is no change: a pass may write it at any time.
  LaneWaiting: null,
  TriggerPaused: "trigger",
  TriggerResumed: "trigger",
};

const isKind = (text: string): text is ChangeKind => Object.hasOwn(TOPIC_OF, text);

/** Null for what the feed leaves out. */
export const topicOf = (kind: ChangeKind): Topic | null => TOPIC_OF[kind];

export const RECORDED_KINDS: readonly ChangeKind[] = Object.keys(TOPIC_OF)
  .filter(isKind)
  .filter((kind) => topicOf(kind) !== null);
