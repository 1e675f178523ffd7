/** Rules for an executor, wherever it was chosen. */
import { EXECUTOR_FIELDS, mustKnowFields, RESOURCE_FIELDS } from "./fields.ts";
import type { Problems } from "./rule.ts";
import { entriesOf, isRecord, mustBeOneOf, mustBeRecord, mustBeWhole, shown } from "./rule.ts";

type Kind = keyof typeof EXECUTOR_FIELDS;

const CAPS = ["maxWorkers", "maxAsyncConcurrent", "maxConcurrentSteps"];

export function* executorProblems(field: string, executor: unknown): Problems {
  if (executor === undefined) return;
  if (!isRecord(executor) || !Object.hasOwn(EXECUTOR_FIELDS, String(executor.kind))) {
    yield {
      field,
      rule: `must be an executor, but is ${shown(executor)}`,
      cure: "Make it with inProcess(), parallel({ … }) or kubernetes({ … })",
    };
    return;
  }
  const fields = EXECUTOR_FIELDS[executor.kind as Kind];
  yield* mustKnowFields(`${field}.`, executor, fields);
  for (const cap of CAPS.filter((each) => each in fields))
    yield* mustBeWhole(
      `${field}.${cap}`,
      executor[cap] ?? undefined,
      1,
      "Set it to 1 or more, or leave it out for the default",
    );
  if (executor.kind === "kubernetes") yield* podProblems(field, executor);
}

function* podProblems(field: string, pod: Readonly<Record<string, unknown>>): Problems {
  yield* mustBeText(`${field}.image`, pod.image ?? null);
  yield* mustBeText(`${field}.namespace`, pod.namespace);
  yield* mustBeText(`${field}.serviceAccount`, pod.serviceAccount);
  yield* mustBeOneOf(`${field}.keep`, pod.keep, ["never", "failed", "always"]);
  const { command } = pod;
  if (command !== undefined && !(Array.isArray(command) && command.length > 0 && command.every(isText)))
    yield {
      field: `${field}.command`,
      rule: "must be a list of strings",
      cure: 'Write it like ["node", "step.js"]',
    };
  yield* mustHoldTexts(`${field}.env`, pod.env, '{ LOG_LEVEL: "info" }');
  yield* mustHoldTexts(`${field}.labels`, pod.labels, '{ team: "billing" }');
  yield* mustBeRecord(`${field}.resources`, pod.resources, '{ requests: { cpu: "500m" } }');
  yield* mustKnowFields(`${field}.resources.`, pod.resources, RESOURCE_FIELDS);
  for (const [name, amounts] of entriesOf(pod.resources))
    yield* mustHoldTexts(`${field}.resources.${name}`, amounts, '{ cpu: "500m", memory: "1Gi" }');
}

const isText = (value: unknown): boolean => typeof value === "string";

function* mustBeText(field: string, value: unknown): Problems {
  if (value === undefined || (typeof value === "string" && value !== "")) return;
  yield { field, rule: `must be a string, but is ${shown(value)}`, cure: "Write its name" };
}

function* mustHoldTexts(field: string, value: unknown, like: string): Problems {
  yield* mustBeRecord(field, value, like);
  for (const [key, each] of entriesOf(value).filter(([, each]) => !isText(each)))
    yield {
      field: `${field}.${key}`,
      rule: `must be a string, but is ${shown(each)}`,
      cure: `Write it like ${like}`,
    };
}
