/**
 * Schedules that were set at run time. Their names in the store differ from those of declared schedules, so a
 * deploy cannot meet one. Their rows have everything that the app's file has for a declared one.
 */
import type { RunTags } from "./definition.ts";
import type { AppSchedule, ScheduleSpec } from "./trigger.ts";

const PREFIX = "set-schedule ";

export const setScheduleName = (id: string): string => `${PREFIX}${id}`;

/** Undefined for the name of a trigger that an app declares. */
export const setScheduleId = (name: string): string | undefined =>
  name.startsWith(PREFIX) ? name.slice(PREFIX.length) : undefined;

export interface SetScheduleSpec extends ScheduleSpec {
  /** Plain data. Absent if there is none. */
  readonly input?: unknown;
  readonly tags: RunTags;
  readonly priority: number | null;
  readonly setBy: string;
}

interface Row {
  readonly name: string;
  readonly workflow: string | null;
  /** JSON text of a SetScheduleSpec. */
  readonly spec: string;
  readonly paused: boolean;
}

/** Undefined if it was not set at run time. */
export function setSchedule({ name, workflow, spec: text, paused }: Row): AppSchedule | undefined {
  const id = setScheduleId(name);
  if (id === undefined) return undefined;
  const spec = JSON.parse(text) as SetScheduleSpec;
  const { input, tags, priority } = spec;
  return { kind: "schedule", id, name, workflow, spec, input, tags, priority, paused };
}
