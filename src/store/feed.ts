/**
 * The feed: one ordered stream of what happened to units, runs, gates, workers, lanes and triggers. A change has a
 * position; positions are consecutive, so a gap shows. A later change of a subject has a later position.
 *
 * Changes are recorded only while somebody wants them. A listener is a row that says what it wants. A transaction that
 * moves something records, as part of itself, what at least one listener wants; with no listener it records nothing. So a
 * listener that is still there has missed nothing since it began. One that is not renewed in time is forgotten.
 */
import type { RunMove, RunSeen, StepMove } from "./runs.ts";
import type { TaskRow } from "./store.ts";

/** What a change is about. A listener names the topics it wants as the sum of these numbers. */
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

/** Kinds as they are recorded. A kind that is not listed is a line of a task's own log. */
const TOPIC_OF: Readonly<Record<string, Topic>> = {
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
  TaskLog: "logged",
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
  TriggerPaused: "trigger",
  TriggerResumed: "trigger",
};

export const RECORDED_KINDS: readonly string[] = Object.keys(TOPIC_OF);

export const topicOf = (kind: string): Topic => TOPIC_OF[kind] ?? "logged";

/** What somebody wants to hear of. A field that is null leaves nothing out. */
export interface Interest {
  /** The sum of topics. */
  readonly topics: number;
  /** A run and everything in it. */
  readonly run: string | null;
  /** The name of a task or a workflow. */
  readonly task: string | null;
  readonly queue: string | null;
}

export interface Listener extends Interest {
  readonly id: string;
  /** How long it is kept after its last renewal, and how long changes are kept for it. */
  readonly keepMs: number;
}

/** Something that happened. `data` is JSON text. */
export interface NewChange {
  readonly kind: string;
  /** A unit, gate, session, lane or trigger. */
  readonly subject: string;
  /** Its number in the history of the subject; null where it is not part of one. */
  readonly n: number | null;
  readonly run: string | null;
  readonly step: string | null;
  readonly item: number | null;
  /** The name of the unit's task or workflow. */
  readonly task: string | null;
  readonly queue: string | null;
  readonly at: number;
  readonly data: string | null;
}

export interface Change extends NewChange {
  readonly position: number;
}

export interface Page {
  readonly changes: readonly Change[];
  /** There are more. */
  readonly more: boolean;
  /** Changes after the given position are gone: they were older than anybody's keep. */
  readonly lapsed: boolean;
  /** Which of the listeners are still there. Only these have missed nothing. */
  readonly alive: ReadonlySet<string>;
}

export interface FeedVerbs {
  /** From the answered position on, everything is recorded that these want. */
  follow(listeners: readonly Listener[]): Promise<number>;
  /**
   * Goes on where another listener has come to: nothing after the position is missed. False when that one is gone, wanted
   * less, began later, or the changes are gone.
   */
  resume(
    listener: Listener,
    from: { readonly listener: string; readonly position: number },
  ): Promise<boolean>;
  /** Changes after a position, in order, whoever wanted them. One look at one instant. */
  changes(look: {
    readonly after: number;
    readonly limit: number;
    readonly listeners: readonly string[];
  }): Promise<Page>;
  /** Answers which of them are still there. */
  keepFollowing(listeners: readonly string[]): Promise<ReadonlySet<string>>;
  unfollow(listeners: readonly string[]): Promise<void>;
  /** These tasks and runs as they are, in no order; those that are not there are left out. */
  tasksById(ids: readonly string[]): Promise<TaskRow[]>;
}

/** No listener is forgotten sooner, and no change. */
export const LEAST_KEEP_MS = 30_000;
/** No listener is kept longer than this without a sign of life, and no change is kept longer. */
export const MOST_KEEP_MS = 3_600_000;

export const keepFor = (ms: number): number => Math.min(MOST_KEEP_MS, Math.max(LEAST_KEEP_MS, ms));

export function wants(interest: Interest, change: Omit<NewChange, "at">): boolean {
  return (
    (interest.topics & TOPIC[topicOf(change.kind)]) !== 0 &&
    (interest.run === null || interest.run === change.run || interest.run === change.subject) &&
    (interest.task === null || interest.task === change.task) &&
    (interest.queue === null || interest.queue === change.queue)
  );
}

/** Whether everything that one wants, the other wants, too. */
export const covers = (wide: Interest, narrow: Interest): boolean =>
  (narrow.topics & ~wide.topics) === 0 &&
  (wide.run === null || wide.run === narrow.run) &&
  (wide.task === null || wide.task === narrow.task) &&
  (wide.queue === null || wide.queue === narrow.queue);

/** What is told of a run beside its units: that it has started, and steps that have no unit of their own. */
export interface RunChange {
  readonly run: string;
  readonly kind: string;
  readonly step: string | null;
  readonly data: string | null;
}

const LIST_ENDS: Readonly<Record<string, string>> = {
  succeeded: "StepSucceeded",
  failed: "StepFailed",
  cancelled: "StepCancelled",
};

/** A step with a unit is told by its unit. A list has many, so the step is told as a whole. */
export function changesOfRun(
  { run, start, steps }: RunMove,
  seen: Pick<RunSeen, "steps"> | undefined,
): RunChange[] {
  const known = new Map((seen?.steps ?? []).map((step) => [step.name, step]));
  const told = (step: StepMove): RunChange[] => {
    const before = known.get(step.name);
    const change = (kind: string, data: string | null = null): RunChange[] => [
      { run, kind, step: step.name, data },
    ];
    if (step.state === "skipped") return change("StepSkipped", step.body);
    if (!step.fan && !before?.fan) return [];
    if (step.state !== "open") return change(LIST_ENDS[step.state] as string);
    return before ? [] : change("StepReady", JSON.stringify({ items: step.fan?.total ?? 0 }));
  };
  const started: RunChange[] = start ? [{ run, kind: "RunStarted", step: null, data: null }] : [];
  return [...started, ...steps.flatMap(told)];
}

export const pausedChange = (run: string, paused: boolean, by: string): RunChange => ({
  run,
  kind: paused ? "RunPaused" : "RunResumed",
  step: null,
  data: JSON.stringify({ by }),
});

/** The queue or the run that a gate belongs to. */
export function placeOfGate(key: string): { readonly queue: string | null; readonly run: string | null } {
  const run = /^run:([^/]*)\//.exec(key)?.[1] ?? null;
  return { queue: key.startsWith("queue:") ? key.slice("queue:".length) : null, run };
}
