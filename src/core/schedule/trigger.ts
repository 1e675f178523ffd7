/**
 * The schedules, sensors and automations of a checked app, with their defaults filled in. A store keeps their
 * `spec`: plain data from which any process can decide when they are due.
 */
import type { AppDefinition } from "../app/definition.ts";
import { parseDuration } from "../time.ts";
import type { AutomationCondition } from "./automation.ts";
import type {
  AutomationDefinition,
  RunTags,
  ScheduleDefinition,
  SensorDefinition,
  SensorLook,
} from "./definition.ts";
import { workflowId } from "./definition.ts";
import type { CatchUp } from "./due.ts";
import type { Overlap } from "./overlap.ts";

const TRIGGER_DEFAULTS = {
  timezone: "UTC",
  catchUp: "last",
  overlap: "allow",
  timeout: "60s",
} as const;

export type TriggerKind = "schedule" | "sensor" | "automation";

/** "schedule nightly": its name in the store, and the source of the runs it starts. */
export const triggerName = (kind: TriggerKind, id: string): string => `${kind} ${id}`;

export interface ScheduleSpec {
  readonly cron: string;
  readonly timezone: string;
  readonly catchUp: CatchUp;
  readonly overlap: Overlap;
  /** The task that it enqueues. If absent, it starts runs of its workflow. */
  readonly task?: string;
}

export interface SensorSpec {
  readonly everyMs: number;
  readonly timeoutMs: number;
}

export interface AutomationSpec {
  readonly when: AutomationCondition;
}

interface Trigger<Kind extends TriggerKind, Spec> {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
  readonly spec: Spec;
  readonly tags: RunTags;
  /** Null if the workflow's own priority applies. */
  readonly priority: number | null;
  readonly paused: boolean;
}

export interface AppSchedule extends Trigger<"schedule", ScheduleSpec> {
  /** Null if it enqueues the task of its spec. */
  readonly workflow: string | null;
  /** A value, or a function of the fire time. */
  readonly input: unknown;
}

export interface AppSensor extends Trigger<"sensor", SensorSpec> {
  /** Null if each submission names its workflow. */
  readonly workflow: string | null;
  readonly run: SensorDefinition["run"];
}

export interface AppAutomation extends Trigger<"automation", AutomationSpec> {
  readonly workflow: string;
  readonly input: unknown;
}

export type AppTrigger = AppSchedule | AppSensor | AppAutomation;

export interface AppTriggers {
  readonly schedules: readonly AppSchedule[];
  readonly sensors: readonly AppSensor[];
  readonly automations: readonly AppAutomation[];
}

/** The triggers of a valid definition. */
export function triggersOf({ schedules, sensors, automations }: AppDefinition): AppTriggers {
  return {
    schedules: Object.freeze((schedules ?? []).map(scheduleOf)),
    sensors: Object.freeze((sensors ?? []).map(sensorOf)),
    automations: Object.freeze((automations ?? []).map(automationOf)),
  };
}

function scheduleOf(definition: ScheduleDefinition): AppSchedule {
  const { id, workflow, task, cron, timezone, catchUp, overlap, input } = definition;
  return Object.freeze({
    ...trigger("schedule", id, definition),
    workflow: workflow === undefined ? null : workflowId(workflow),
    input,
    spec: {
      ...(task === undefined ? {} : { task: workflowId(task) }),
      cron,
      timezone: timezone ?? TRIGGER_DEFAULTS.timezone,
      catchUp: catchUp ?? TRIGGER_DEFAULTS.catchUp,
      overlap: overlap ?? TRIGGER_DEFAULTS.overlap,
    },
  });
}

function sensorOf(definition: SensorDefinition): AppSensor {
  const { id, workflow, every, timeout } = definition;
  return Object.freeze({
    ...trigger("sensor", id, definition),
    workflow: workflow === undefined ? null : workflowId(workflow),
    run: (look: SensorLook) => definition.run(look),
    spec: { everyMs: parseDuration(every), timeoutMs: parseDuration(timeout ?? TRIGGER_DEFAULTS.timeout) },
  });
}

function automationOf(definition: AutomationDefinition): AppAutomation {
  const { id, workflow, when, input } = definition;
  const of = when.of.map(workflowId);
  return Object.freeze({
    ...trigger("automation", id ?? workflowId(workflow), definition),
    workflow: workflowId(workflow),
    input,
    spec: { when: { kind: when.kind, of } },
  });
}

interface Common {
  readonly tags?: RunTags;
  readonly priority?: number;
  readonly paused?: boolean;
}

function trigger<Kind extends TriggerKind>(kind: Kind, id: string, { tags, priority, paused }: Common) {
  return {
    kind,
    id,
    name: triggerName(kind, id),
    tags: tags ?? {},
    priority: priority ?? null,
    paused: paused ?? false,
  };
}
