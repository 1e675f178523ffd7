/**
 * What starts runs by itself, as its author writes it: a schedule by the clock, a sensor by looking at the world, an
 * automation by what other workflows did. Nothing here is checked or filled in yet; core/app does that.
 */
import type { Duration } from "../time.ts";
import type { AutomationCondition } from "./automation.ts";
import type { CatchUp } from "./due.ts";
import type { Overlap } from "./overlap.ts";

/** A workflow, or its id. */
export type WorkflowRef = string | { readonly id: string };

export type RunTags = Readonly<Record<string, string>>;

/** What is the same for every run that something starts. */
interface Submission {
  readonly tags?: RunTags;
  /** Higher first; the workflow's own unless said otherwise. */
  readonly priority?: number;
}

export interface ScheduleDefinition extends Submission {
  readonly id: string;
  readonly workflow: WorkflowRef;
  /** "0 3 * * *": minute, hour, day of month, month, day of week; with a sixth field in front for seconds. */
  readonly cron: string;
  /** "Europe/Berlin"; "UTC" unless said otherwise. */
  readonly timezone?: string;
  /** The run's input, or what makes it from the fire time. */
  readonly input?: unknown;
  /** What becomes of fire times at which nobody was there: "last" unless said otherwise. */
  readonly catchUp?: CatchUp;
  /** What it does while a run of it is not over: "allow" unless said otherwise. */
  readonly overlap?: Overlap;
  /** Born paused; from then on, operators pause and resume it. */
  readonly paused?: boolean;
}

/** What a schedule's input is made from. */
export interface Fire {
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface SensorDefinition extends Submission {
  readonly id: string;
  /** How often it looks. */
  readonly every: Duration;
  /** How long a look may take; a minute unless said otherwise. */
  readonly timeout?: Duration;
  /** What it submits, where a submission does not say it. */
  readonly workflow?: WorkflowRef;
  readonly paused?: boolean;
  run(look: SensorLook): Promise<SensorAnswer> | SensorAnswer;
}

export interface SensorLook {
  /** What the last look that was recorded has answered; undefined before the first. */
  // biome-ignore lint/suspicious/noExplicitAny: it is what the sensor itself has answered.
  readonly cursor: any;
  /** Aborted when it takes too long, and when the process is told to stop. */
  readonly signal: AbortSignal;
}

/** Recorded together with the runs, or not at all. */
export interface SensorAnswer {
  /** Any JSON; the old one stays when it is left out. */
  readonly cursor?: unknown;
  readonly submit?: readonly SensorSubmission[];
}

export interface SensorSubmission extends Submission {
  readonly workflow?: WorkflowRef;
  readonly input?: unknown;
  /** Says which run it is: a key that was there already makes no second one. */
  readonly key: string;
}

export interface AutomationDefinition extends Submission {
  /** The workflow's id unless said otherwise. */
  readonly id?: string;
  readonly workflow: WorkflowRef;
  readonly when: AutomationCondition;
  readonly input?: unknown;
  readonly paused?: boolean;
}

export function schedule(definition: ScheduleDefinition): ScheduleDefinition {
  return Object.freeze({ ...definition });
}

export function sensor(definition: SensorDefinition): SensorDefinition {
  return Object.freeze({ ...definition });
}

export function automation(definition: AutomationDefinition): AutomationDefinition {
  return Object.freeze({ ...definition });
}

/** Each time all of these have succeeded since its last submission. */
export function succeeded(...workflows: readonly WorkflowRef[]): AutomationCondition {
  return Object.freeze({ kind: "succeeded", of: Object.freeze(workflows.map(workflowId)) });
}

/** When one of these has succeeded since the workflow itself did last, and no run of it is queued or in progress. */
export function newer(...workflows: readonly WorkflowRef[]): AutomationCondition {
  return Object.freeze({ kind: "newer", of: Object.freeze(workflows.map(workflowId)) });
}

export function workflowId(ref: WorkflowRef): string {
  return typeof ref === "string" ? ref : ref?.id;
}
