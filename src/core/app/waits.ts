/** Rules for the steps that wait. A time or a value that is only a reference is checked once it is known. */
import { LONGEST_TEXT, textProblem } from "../text.ts";
import type { AnyWorkflow } from "../workflow/definition.ts";
import { isScalar } from "../workflow/event.ts";
import type { PlannedWaitStep } from "../workflow/steps.ts";
import type { Template } from "../workflow/template.ts";
import { sourceOf } from "../workflow/template.ts";
import { timeOf } from "../workflow/time-of.ts";
import { idOfEvent } from "../workflow/wait-step.ts";
import type { PlannedWait } from "../workflow/waiting.ts";
import { mustKnowFields, WAIT_FIELDS } from "./fields.ts";
import type { Problems } from "./rule.ts";
import { isRecord, mustBeBoolean, mustBeDuration, mustBeName, mustBeSchema, shown } from "./rule.ts";

export function* waitProblems(field: string, { wait, input, otherwise, options }: PlannedWaitStep): Problems {
  yield* mustKnowFields(`${field}.`, options, WAIT_FIELDS[wait.for]);
  yield* mustBeBoolean(`${field}.mayFail`, options.mayFail, "Write true if the run may continue without it");
  if (wait.for === "sleep") yield* mustBeGiven(`${field}.duration`, wait.duration);
  else if (wait.for === "until") yield* timeProblems(field, input);
  else {
    yield* mustBeDuration(`${field}.timeout`, wait.timeout);
    if (otherwise !== undefined && wait.timeout === undefined)
      yield {
        field: `${field}.otherwise`,
        rule: "would never be used, because the step has no timeout",
        cure: 'Give it a timeout, like { timeout: "2d" }, or leave otherwise out',
      };
    yield* wait.for === "event" ? eventProblems(field, wait, input) : approvalProblems(field, wait, input);
  }
}

function* mustBeGiven(field: string, duration: unknown): Problems {
  if (duration === undefined)
    yield { field, rule: "must be set", cure: 'Write it like s.sleep("cool-down", "2h")' };
  else yield* mustBeDuration(field, duration);
}

const isReference = (template: Template): boolean => sourceOf(template) !== undefined;

function* timeProblems(field: string, time: Template): Problems {
  if (isReference(time) || timeOf(time) !== undefined) return;
  yield {
    field: `${field}.time`,
    rule: `must be a time, but is ${shown(time)}`,
    cure: "Pass a Date, a text with a time zone like 2026-11-19T08:00:00Z, or milliseconds since 1970",
  };
}

function* eventProblems(
  field: string,
  { event, match }: Extract<PlannedWait, { for: "event" }>,
  input: Template,
): Problems {
  if (typeof event !== "string" && !isRecord(event)) {
    const rule = `must be an event, but is ${shown(event)}`;
    yield { field: `${field}.event`, rule, cure: "Make one with event({ id, payload }), or write its id" };
    return;
  }
  yield* mustBeName(`${field}.event`, idOfEvent(event), "an event's id");
  if (typeof event !== "string") yield* mustBeSchema(`${field}.event.payload`, event.payload);
  // A reference appears to be a record, so the template is looked at.
  if (!isRecord(match) || !isRecord(input) || isReference(input)) {
    const rule = "must be an object with a value for each field";
    yield { field: `${field}.match`, rule, cure: "Write it like { orderId: input.orderId }" };
    return;
  }
  for (const [name, value] of Object.entries(input))
    if (!isReference(value as Template) && !isScalar(value))
      yield {
        field: `${field}.match.${name}`,
        rule: `must be a text, a number, true or false, but is ${shown(value)}`,
        cure: "Compare a field of the payload with a plain value or a reference",
      };
}

function* approvalProblems(
  field: string,
  { by }: Extract<PlannedWait, { for: "approval" }>,
  question: Template,
): Problems {
  if (!isReference(question) && (typeof question !== "string" || question.trim() === ""))
    yield {
      field: `${field}.question`,
      rule: `must be a text, but is ${shown(question)}`,
      cure: 'Write what a person has to decide, like { question: "Release it?" }',
    };
  if (by === undefined) return;
  if (!Array.isArray(by) || by.length === 0) {
    const rule = `must be a list of names, but is ${Array.isArray(by) ? "empty" : shown(by)}`;
    yield { field: `${field}.by`, rule, cure: 'Write it like ["ana"], or leave it out for everybody' };
    return;
  }
  for (const [index, name] of by.entries()) {
    const problem = textProblem(name, LONGEST_TEXT);
    if (problem !== undefined)
      yield { field: `${field}.by[${index}]`, rule: problem, cure: "Write the name of a person" };
  }
}

/** The schema of an event checks what is sent, wherever it is sent from. So an ID has one schema. */
export function* sharedEventProblems(workflows: readonly (readonly [string, AnyWorkflow])[]): Problems {
  const schemas = new Map<string, unknown>();
  for (const [field, { plan }] of workflows)
    for (const step of plan.steps) {
      if (step.kind !== "wait" || step.wait.for !== "event" || !isRecord(step.wait.event)) continue;
      const id = idOfEvent(step.wait.event);
      const schema = step.wait.event.payload;
      if (!schemas.has(id)) schemas.set(id, schema);
      else if (schemas.get(id) !== schema)
        yield {
          field: `${field}.steps.${step.name}.event`,
          rule: `another event with the id "${id}" has a different schema`,
          cure: "Define the event once and use it everywhere, or give it its own id",
        };
    }
}
