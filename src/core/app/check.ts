/**
 * `checkApp` checks a whole app before anything starts and reports all problems at once. The rules are in
 * name.ts, namespaces.ts, queues.ts, leases.ts, pools.ts, semaphores.ts, locks.ts, sync.ts, tasks.ts, executors.ts, handlers.ts, runs.ts, tags.ts, workflows.ts, steps.ts,
 * each.ts and triggers.ts. Their shared parts are in rule.ts and fields.ts.
 */
import { ConfigError } from "../error.ts";
import type { App } from "./app.ts";
import { resolveApp } from "./app.ts";
import type { AppDefinition } from "./definition.ts";
import { executorProblems } from "./executors.ts";
import { APP_FIELDS, mustKnowFields } from "./fields.ts";
import { leaseProblems } from "./leases.ts";
import { NEEDS_SYNC } from "./locks.ts";
import { nameProblems } from "./name.ts";
import { namespaceProblems } from "./namespaces.ts";
import { poolProblems } from "./pools.ts";
import { queueProblems } from "./queues.ts";
import type { Problems } from "./rule.ts";
import { isRecord, shown } from "./rule.ts";
import { runProblems } from "./runs.ts";
import { semaphoreProblems } from "./semaphores.ts";
import { syncProblems } from "./sync.ts";
import { taskProblems } from "./tasks.ts";
import { triggerProblems } from "./triggers.ts";
import { workflowProblems } from "./workflows.ts";

export type { App } from "./app.ts";

/** Returns the app with its defaults filled in, or throws a ConfigError with every problem. */
export function checkApp(definition: AppDefinition): App {
  const hasSync = isRecord(definition) && definition.sync !== undefined;
  const problems = [...problemsOf(definition)].filter(({ rule }) => rule !== NEEDS_SYNC || !hasSync);
  if (problems.length > 0) throw new ConfigError(problems);
  return resolveApp(definition);
}

function* problemsOf(definition: AppDefinition): Problems {
  if (!isRecord(definition)) {
    yield {
      field: "app",
      rule: `must be an object, but is ${shown(definition)}`,
      cure: "Write { tasks: [ … ] }",
    };
    return;
  }
  yield* mustKnowFields("", definition, APP_FIELDS);
  yield* nameProblems(definition);
  yield* queueProblems(definition);
  yield* leaseProblems(definition);
  yield* poolProblems(definition);
  yield* semaphoreProblems(definition);
  yield* namespaceProblems(definition);
  yield* syncProblems(definition);
  yield* taskProblems(definition);
  yield* executorProblems("executor", definition.executor);
  yield* runProblems(definition);
  yield* workflowProblems(definition);
  yield* triggerProblems(definition);
}
