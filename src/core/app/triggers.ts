/** Rules for schedules, sensors and automations. */
import { SluiceError } from "../error.ts";
import type { AutomationCondition } from "../schedule/automation.ts";
import { newCron } from "../schedule/cron.ts";
import type { WorkflowRef } from "../schedule/definition.ts";
import { workflowId } from "../schedule/definition.ts";
import { nextFire } from "../schedule/next-fire.ts";
import { isZone } from "../schedule/zone.ts";
import type { AppDefinition } from "./definition.ts";
import { AUTOMATION_FIELDS, mustKnowFields, SCHEDULE_FIELDS, SENSOR_FIELDS } from "./fields.ts";
import type { Problems } from "./rule.ts";
import {
  entriesOf,
  isRecord,
  mustBeBeat,
  mustBeDuration,
  mustBeName,
  mustBeOneOf,
  mustBeRecord,
  mustBeWhole,
  shown,
} from "./rule.ts";
import { inputProblems, mustBePart, partOf, partsIn, targetProblems } from "./schedule-target.ts";

type Entry = Readonly<Record<string, unknown>>;

export function* triggerProblems(definition: AppDefinition): Problems {
  const workflows = workflowsOf(definition);
  for (const [field, schedule] of yield* entries("schedules", definition.schedules))
    yield* oneSchedule(field, schedule, definition);
  for (const [field, sensor] of yield* entries("sensors", definition.sensors))
    yield* oneSensor(field, sensor, workflows);
  for (const [field, automation] of yield* entries("automations", definition.automations))
    yield* oneAutomation(field, automation, definition);
}

const workflowsOf = ({ workflows }: AppDefinition): string[] => partsIn(workflows).map(({ id }) => id);

const MAKERS = { schedules: "schedule", sensors: "sensor", automations: "automation" } as const;

/** The entries of a list that can be checked further, each with its field. */
function* entries(
  field: keyof typeof MAKERS,
  list: unknown,
): Generator<{ field: string; rule: string; cure: string }, [string, Entry][]> {
  const maker = MAKERS[field];
  if (list === undefined) return [];
  if (!Array.isArray(list)) {
    yield { field, rule: `must be a list, but is ${shown(list)}`, cure: `Write it like [${maker}({ … })]` };
    return [];
  }
  const found: [string, Entry][] = [];
  const firstWith = new Map<unknown, number>();
  for (const [index, entry] of list.entries()) {
    const place = `${field}[${index}]`;
    if (!isRecord(entry)) {
      const cure = `Make it with ${maker}({ … })`;
      yield { field: place, rule: `must be a ${maker}, but is ${shown(entry)}`, cure };
      continue;
    }
    const id = entry.id ?? (maker === "automation" ? workflowId(entry.workflow as WorkflowRef) : undefined);
    if (entry.id !== undefined || maker !== "automation")
      yield* mustBeName(`${place}.id`, id, `a ${maker}'s id`);
    const first = firstWith.get(id);
    if (first === undefined) firstWith.set(id, index);
    else
      yield {
        field: `${place}.id`,
        rule: `"${id}" is already the id of ${field}[${first}]`,
        cure: `Give each ${maker} its own id`,
      };
    found.push([typeof id === "string" && id !== "" ? `${field}.${id}` : place, entry]);
  }
  return found;
}

export function* oneSchedule(field: string, schedule: Entry, definition: AppDefinition): Problems {
  yield* mustKnowFields(`${field}.`, schedule, SCHEDULE_FIELDS);
  yield* targetProblems(field, schedule, definition);
  const zone = schedule.timezone ?? "UTC";
  const knowsZone = typeof zone === "string" && isZone(zone);
  if (!knowsZone)
    yield {
      field: `${field}.timezone`,
      rule: `there is no time zone ${shown(zone)}`,
      cure: 'Write it like "Europe/Berlin", or leave it out for UTC',
    };
  yield* mustBeCron(`${field}.cron`, schedule.cron, knowsZone ? zone : "UTC");
  yield* mustBeOneOf(`${field}.catchUp`, schedule.catchUp, ["skip", "last", "all"]);
  yield* mustBeOneOf(`${field}.overlap`, schedule.overlap, ["allow", "skip", "queue-one"]);
  yield* submissionProblems(field, schedule);
}

function* oneSensor(field: string, sensor: Entry, workflows: readonly string[]): Problems {
  yield* mustKnowFields(`${field}.`, sensor, SENSOR_FIELDS);
  if (sensor.workflow !== undefined)
    yield* mustBePart("workflow", `${field}.workflow`, sensor.workflow, workflows);
  yield* mustBeBeat(`${field}.every`, sensor.every ?? null);
  yield* mustBeDuration(`${field}.timeout`, sensor.timeout);
  if (typeof sensor.run !== "function")
    yield {
      field: `${field}.run`,
      rule: `must be a function, but is ${shown(sensor.run)}`,
      cure: "Write it like run: async ({ cursor, signal }) => ({ cursor, submit: [ … ] })",
    };
  yield* submissionProblems(field, sensor);
}

function* oneAutomation(field: string, automation: Entry, definition: AppDefinition): Problems {
  const workflows = workflowsOf(definition);
  yield* mustKnowFields(`${field}.`, automation, AUTOMATION_FIELDS);
  yield* mustBePart("workflow", `${field}.workflow`, automation.workflow, workflows);
  const { input } = automation;
  const parts = partsIn(definition.workflows);
  if (typeof input === "function")
    yield { field: `${field}.input`, rule: "must not be a function", cure: "Pass plain data" };
  else yield* inputProblems(`${field}.input`, input, partOf(parts, automation.workflow));
  const when = automation.when as AutomationCondition | undefined;
  if (!isRecord(when) || !["succeeded", "newer"].includes(when.kind) || !Array.isArray(when.of)) {
    const rule = `must be a condition, but is ${shown(when)}`;
    yield { field: `${field}.when`, rule, cure: "Write succeeded(a, b) or newer(a, b)" };
    return;
  }
  if (when.of.length === 0)
    yield { field: `${field}.when`, rule: `${when.kind}() names no workflow`, cure: "Name at least one" };
  for (const name of when.of) yield* mustBePart("workflow", `${field}.when`, name, workflows);
  const own = workflowId(automation.workflow as WorkflowRef);
  if (when.of.includes(own))
    yield {
      field: `${field}.when`,
      rule: `waits for "${own}" itself, so it would never end, or never begin`,
      cure: "Name other workflows",
    };
  yield* submissionProblems(field, automation);
}

function* mustBeCron(field: string, text: unknown, zone: string): Problems {
  try {
    // Any start date will do: a day that does not come after it never comes.
    if (nextFire(newCron(text as string), zone, Date.UTC(2024, 0, 1)) !== null) return;
    yield { field, rule: `${shown(text)} names a day that never comes`, cure: "Name a day that exists" };
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    const { rule, cure } = error.details as { rule: string; cure: string };
    yield { field, rule, cure: cure.charAt(0).toUpperCase() + cure.slice(1) };
  }
}

function* submissionProblems(field: string, { tags, priority, paused }: Entry): Problems {
  const cure = "Set it to a whole number; higher goes first";
  yield* mustBeWhole(`${field}.priority`, priority, Number.NEGATIVE_INFINITY, cure);
  yield* mustBeRecord(`${field}.tags`, tags, '{ env: "prod" }');
  for (const [key, value] of entriesOf(tags))
    if (typeof value !== "string")
      yield {
        field: `${field}.tags.${key}`,
        rule: `must be a string, but is ${shown(value)}`,
        cure: "Put it in quotes",
      };
  if (paused !== undefined && typeof paused !== "boolean")
    yield {
      field: `${field}.paused`,
      rule: "must be true or false",
      cure: "Write true to create it paused",
    };
}
