/**
 * Triggers as their author writes them: a schedule starts runs by the clock, a sensor by polling the outside
 * world, an automation after other workflows. core/app checks them and fills in the defaults.
 */
import type { AnyTask, InputOf } from "../task/definition.ts";
import type { Duration } from "../time.ts";
import type { AnyWorkflow, RunInputOf } from "../workflow/definition.ts";
import type { AutomationCondition } from "./automation.ts";
import type { CatchUp } from "./due.ts";
import type { Overlap } from "./overlap.ts";

/** A workflow, or its ID. */
export type WorkflowRef = string | { readonly id: string };

export type RunTags = Readonly<Record<string, string>>;

/** Applies to every run that the trigger starts. */
interface Submission {
  readonly tags?: RunTags;
  /** Higher priorities go first. The default is the workflow's own priority. */
  readonly priority?: number;
}

/** A task, or its ID. */
type TaskRef = string | { readonly id: string };

/** It starts runs of a workflow, or enqueues a task: it names one of the two. */
export interface ScheduleDefinition extends ScheduleTimes {
  readonly workflow?: WorkflowRef;
  readonly task?: TaskRef;
  /** The input, or a function that makes it from the fire time. It is checked when the app is loaded. */
  readonly input?: unknown;
}

export interface ScheduleTimes extends Submission {
  readonly id: string;
  /**
   * "0 3 * * *": minute, hour, day of month, month, day of week. An optional sixth field in front is for
   * seconds.
   */
  readonly cron: string;
  /** For example "Europe/Berlin". The default is "UTC". */
  readonly timezone?: string;
  /** What happens to fire times that were missed because no worker was running. The default is "last". */
  readonly catchUp?: CatchUp;
  /** What happens at a fire time while an earlier run is not over. The default is "allow". */
  readonly overlap?: Overlap;
  /** Whether it is created paused. From then on, operators pause and resume it. */
  readonly paused?: boolean;
}

/** The argument of a schedule's `input` function. */
export interface Fire {
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface SensorDefinition extends Submission {
  readonly id: string;
  /** How often it looks. */
  readonly every: Duration;
  /** How long a look may take. The default is one minute. */
  readonly timeout?: Duration;
  /** The workflow to submit, unless a submission names one. */
  readonly workflow?: WorkflowRef;
  readonly paused?: boolean;
  run(look: SensorLook): Promise<SensorAnswer> | SensorAnswer;
}

export interface SensorLook {
  /** The cursor that the last recorded look returned. Undefined before the first. */
  // biome-ignore lint/suspicious/noExplicitAny: it is what the sensor itself has answered.
  readonly cursor: any;
  /** Aborted when the look takes too long, or when the process is told to stop. */
  readonly signal: AbortSignal;
}

/** Recorded together with the runs, or not at all. */
export interface SensorAnswer {
  /** Any JSON. If left out, the old cursor stays. */
  readonly cursor?: unknown;
  readonly submit?: readonly SensorSubmission[];
}

export interface SensorSubmission extends Submission {
  readonly workflow?: WorkflowRef;
  readonly input?: unknown;
  /** Identifies the run: a key that was already used starts no second run. */
  readonly key: string;
}

export interface AutomationDefinition extends Submission {
  /** The default is the workflow's ID. */
  readonly id?: string;
  readonly workflow: WorkflowRef;
  readonly when: AutomationCondition;
  readonly input?: unknown;
  readonly paused?: boolean;
}

/** The types of a task or a workflow that is only named are not known. */
export interface ById {
  readonly task?: string;
  readonly workflow?: string | { readonly id: string; readonly plan?: never };
}

/** A task that takes no input needs none. */
export type InputFor<Input> = GivenInput<Input, Input | ((fire: Fire) => Input)>;

type GivenInput<Input, Given = Input> = undefined extends Input
  ? { readonly input?: Given }
  : { readonly input: Given };

/** Enqueues a task. The input is that of the task, and a task has no tags. */
export function schedule<Task extends AnyTask>(
  definition: Omit<ScheduleTimes, "tags"> & { readonly task: Task } & InputFor<InputOf<Task>>,
): ScheduleDefinition;
/** Starts runs of a workflow. The input is that of the workflow. */
export function schedule<Workflow extends AnyWorkflow>(
  definition: ScheduleTimes & {
    readonly workflow: Workflow;
    readonly task?: never;
  } & InputFor<RunInputOf<Workflow>>,
): ScheduleDefinition;
/** What it starts is named by its ID. The input is checked when the app is loaded. */
export function schedule(definition: ScheduleDefinition & ById): ScheduleDefinition;
export function schedule(definition: ScheduleDefinition): ScheduleDefinition {
  return Object.freeze({ ...definition });
}

export function sensor(definition: SensorDefinition): SensorDefinition {
  return Object.freeze({ ...definition });
}

/** The input is that of the workflow. */
export function automation<Workflow extends AnyWorkflow>(
  definition: Omit<AutomationDefinition, "input"> & {
    readonly workflow: Workflow;
  } & GivenInput<RunInputOf<Workflow>>,
): AutomationDefinition;
export function automation(definition: AutomationDefinition & Pick<ById, "workflow">): AutomationDefinition;
export function automation(definition: AutomationDefinition): AutomationDefinition {
  return Object.freeze({ ...definition });
}

/** Submits each time all of these have succeeded since its last submission. */
export function succeeded(...workflows: readonly WorkflowRef[]): AutomationCondition {
  return Object.freeze({ kind: "succeeded", of: Object.freeze(workflows.map(workflowId)) });
}

/**
 * Submits when one of these has succeeded since the workflow itself last did, and no run of it is queued or
 * in progress.
 */
export function newer(...workflows: readonly WorkflowRef[]): AutomationCondition {
  return Object.freeze({ kind: "newer", of: Object.freeze(workflows.map(workflowId)) });
}

/** The ID of a workflow or a task. */
export function workflowId(ref: WorkflowRef): string {
  return typeof ref === "string" ? ref : ref?.id;
}
