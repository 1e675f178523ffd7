/** Rules for each task, alone and next to the others. */

import { RETRY_DEFAULTS } from "../task/retry.ts";
import type { AppDefinition } from "./definition.ts";
import { mustKnowFields, RETRY_FIELDS, TASK_FIELDS } from "./fields.ts";
import { handlerProblems } from "./handlers.ts";
import { computedOr } from "./locks.ts";
import { askProblems } from "./pools.ts";
import { queueOfTask } from "./queues.ts";
import type { Problems } from "./rule.ts";
import {
  isRecord,
  millis,
  mustBeBoolean,
  mustBeDuration,
  mustBeName,
  mustBeOneOf,
  mustBeRecord,
  mustBeSchema,
  mustBeWhole,
  shown,
} from "./rule.ts";

export function* taskProblems(definition: AppDefinition): Problems {
  const tasks: unknown = definition.tasks;
  if (!Array.isArray(tasks)) {
    yield {
      field: "tasks",
      rule: `must be a list, but is ${shown(tasks)}`,
      cure: "Write it like [charge, report]",
    };
    return;
  }
  const firstWith = new Map<unknown, number>();
  for (const [index, task] of tasks.entries()) {
    const place = `tasks[${index}]`;
    if (!isRecord(task)) {
      yield { field: place, rule: `must be a task, but is ${shown(task)}`, cure: "Make it with task({ … })" };
      continue;
    }
    yield* mustBeName(`${place}.id`, task.id, "a task's id");
    const first = firstWith.get(task.id);
    if (first === undefined) firstWith.set(task.id, index);
    else
      yield {
        field: `${place}.id`,
        rule: `"${task.id}" is already the id of tasks[${first}]`,
        cure: "Give each task its own id, and list it once",
      };
    yield* oneTask(
      typeof task.id === "string" && task.id !== "" ? `tasks.${task.id}` : place,
      task,
      definition,
    );
  }
}

function* oneTask(
  name: string,
  task: Readonly<Record<string, unknown>>,
  definition: AppDefinition,
): Problems {
  yield* mustKnowFields(`${name}.`, task, TASK_FIELDS);
  yield* queueOfTask(`${name}.queue`, task.queue, definition);
  const anyWhole = Number.NEGATIVE_INFINITY;
  yield* mustBeWhole(
    `${name}.priority`,
    task.priority,
    anyWhole,
    "Set it to a whole number; higher goes first",
  );
  yield* askProblems(`${name}.pools`, task.pools, isRecord(definition.pools) ? definition.pools : {});
  yield* computedOr(name, task);
  yield* mustBeDuration(`${name}.timeout`, task.timeout);
  yield* mustBeDuration(`${name}.goodUntil`, task.goodUntil);
  yield* retryProblems(`${name}.retry`, task.retry);
  yield* whenProblems(`${name}.retry.when`, task.retry);
  yield* mustBeBoolean(`${name}.cpu`, task.cpu, "Write true for a task that keeps a CPU busy");
  yield* handlerProblems(`${name}.onFailure`, task.onFailure, definition);
  yield* codeProblems(name, task);
}

export function* retryProblems(name: string, retry: unknown): Problems {
  yield* mustBeRecord(name, retry, '{ attempts: 5, delay: "1s" }');
  if (!isRecord(retry)) return;
  yield* mustKnowFields(`${name}.`, retry, RETRY_FIELDS);
  yield* mustBeWhole(`${name}.attempts`, retry.attempts, 1, "Set it to 1 for no retry, or to more");
  yield* mustBeOneOf(`${name}.backoff`, retry.backoff, ["fixed", "exponential"]);
  yield* mustBeDuration(`${name}.delay`, retry.delay, { zero: true });
  yield* mustBeDuration(`${name}.maxDelay`, retry.maxDelay, { zero: true });
  const { jitter } = retry;
  if (jitter !== undefined && !(typeof jitter === "number" && jitter >= 0 && jitter <= 1))
    yield {
      field: `${name}.jitter`,
      rule: `must be a number from 0 to 1, but is ${shown(jitter)}`,
      cure: "Set it to 0.25 for ±25 %, or to 0 for none",
    };
  const delay = millis(retry.delay, RETRY_DEFAULTS.delay);
  const most = retry.maxDelay === undefined ? undefined : millis(retry.maxDelay, RETRY_DEFAULTS.maxDelay);
  if (delay !== undefined && most !== undefined && most < delay)
    yield {
      field: `${name}.maxDelay`,
      rule: `${shown(retry.maxDelay)} is shorter than the delay, ${shown(retry.delay ?? RETRY_DEFAULTS.delay)}`,
      cure: "Set it to the delay or more",
    };
}

function* whenProblems(field: string, retry: unknown): Problems {
  if (!isRecord(retry) || retry.when === undefined || typeof retry.when === "function") return;
  yield {
    field,
    rule: `must be a function, but is ${shown(retry.when)}`,
    cure: "Write it like when: (error) => error instanceof Busy",
  };
}

function* codeProblems(name: string, { run, input }: Readonly<Record<string, unknown>>): Problems {
  if (typeof run !== "function")
    yield {
      field: `${name}.run`,
      rule: `must be a function, but is ${shown(run)}`,
      cure: "Write it like run: async (input, { signal }) => { … }",
    };
  yield* mustBeSchema(`${name}.input`, input);
}
