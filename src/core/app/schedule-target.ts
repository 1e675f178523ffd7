/**
 * Rules for what a schedule starts: one task or one workflow of the app, with an input that it takes. An
 * input that a function makes, or a schema that answers later, is checked when the schedule fires.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { jsonText } from "../json.ts";
import type { WorkflowRef } from "../schedule/definition.ts";
import { workflowId } from "../schedule/definition.ts";
import { sayIssues } from "../task/issues.ts";
import type { AppDefinition } from "./definition.ts";
import { unknownAmong } from "./near.ts";
import type { Problems } from "./rule.ts";
import { isRecord, shown } from "./rule.ts";

interface Part {
  readonly id: string;
  readonly input?: unknown;
}

/** The entries of a list that have an ID. */
export const partsIn = (list: unknown): Part[] =>
  (Array.isArray(list) ? list : []).filter(
    (each): each is Part & Record<string, unknown> => isRecord(each) && typeof each.id === "string",
  );

interface Target {
  readonly workflow?: unknown;
  readonly task?: unknown;
  readonly tags?: unknown;
  readonly input?: unknown;
}

export function* targetProblems(
  field: string,
  { workflow, task, tags, input }: Target,
  { tasks, workflows }: AppDefinition,
): Problems {
  if (task === undefined) {
    const parts = partsIn(workflows);
    yield* mustBePart("workflow", `${field}.workflow`, workflow, idsOf(parts));
    yield* inputProblems(`${field}.input`, input, find(parts, workflow));
    return;
  }
  // It is not clear what the input is for.
  if (workflow !== undefined) {
    yield { field, rule: "names a task and a workflow", cure: "Name one, or write a schedule for each" };
    return;
  }
  const isForRuns = tags !== undefined;
  if (isForRuns)
    yield {
      field: `${field}.tags`,
      rule: "tags are for runs, and a task has none",
      cure: "Leave them out",
    };
  const parts = partsIn(tasks);
  yield* mustBePart("task", `${field}.task`, task, idsOf(parts));
  // Without an input, it may be meant for a workflow.
  if (!isForRuns || input !== undefined) yield* inputProblems(`${field}.input`, input, find(parts, task));
}

const idsOf = (parts: readonly Part[]): string[] => parts.map(({ id }) => id);

const find = (parts: readonly Part[], ref: unknown): Part | undefined =>
  parts.find(({ id }) => id === workflowId(ref as WorkflowRef));

/** `what` is "workflow" or "task". */
export function* mustBePart(
  what: "workflow" | "task",
  field: string,
  ref: unknown,
  known: readonly string[],
): Problems {
  const id = workflowId(ref as WorkflowRef);
  if (known.includes(id)) return;
  yield typeof id === "string"
    ? {
        field,
        rule: `there is no ${what} "${id}"${unknownAmong(id, known)}`,
        cure: `Name a ${what} of this app, or add "${id}" to ${what}s`,
      }
    : {
        field,
        rule: `must be a ${what} or its id, but is ${shown(ref)}`,
        cure: `Name a ${what} of this app`,
      };
}

function* inputProblems(field: string, input: unknown, part: Part | undefined): Problems {
  if (typeof input === "function" || !part) return;
  let text: string | undefined;
  try {
    text = jsonText(input, "input");
  } catch (error) {
    yield { field, rule: (error as Error).message, cure: "Pass plain data" };
    return;
  }
  const issues = issuesOf(part.input, text === undefined ? undefined : JSON.parse(text));
  if (issues.length === 0) return;
  const schema = `the schema of "${part.id}"`;
  const what = input === undefined ? `is missing, but ${schema} needs it` : `does not match ${schema}`;
  yield {
    field,
    rule: `${what}: ${sayIssues(issues).join("; ")}`,
    cure: "Give it an input that matches",
  };
}

/** What is wrong with a schema itself is another rule's to say. */
function issuesOf(schema: unknown, value: unknown): readonly StandardSchemaV1.Issue[] {
  const standard = (schema as StandardSchemaV1 | undefined)?.["~standard"];
  if (typeof standard?.validate !== "function") return [];
  const result = standard.validate(value);
  if (result instanceof Promise) {
    result.catch(() => {});
    return [];
  }
  return result.issues ?? [];
}
