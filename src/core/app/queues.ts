/** Rules for the queues and for the cluster cap. */

import { APP_DEFAULTS, queueModeOf } from "./app.ts";
import type { AppDefinition } from "./definition.ts";
import { mustKnowFields, QUEUE_FIELDS } from "./fields.ts";
import { unknownAmong } from "./near.ts";
import type { Problems } from "./rule.ts";
import { entriesOf, isRecord, mustBeName, mustBeOneOf, mustBeRecord, mustBeWhole } from "./rule.ts";

const NO_CAP =
  "Set it to 1 or more, or leave it out for no cap (to pause it, set its limit to 0 at run time)";

export function* queueProblems(definition: AppDefinition): Problems {
  const { queueMode, queues, clusterCap } = definition;
  yield* mustBeWhole("clusterCap", clusterCap, 1, NO_CAP);
  yield* mustBeOneOf("queueMode", queueMode, ["default", "custom"]);
  yield* mustBeRecord("queues", queues, "{ stripe: { rank: 1, maxConcurrency: 3 } }");
  const declared = entriesOf(queues);
  if (queueMode === "default" && queues !== undefined)
    yield {
      field: "queueMode",
      rule: 'must not be "default" when queues are declared',
      cure: 'Set it to "custom", or leave out queues',
    };
  if (queueModeOf(definition) === "custom" && declared.length === 0)
    yield {
      field: "queues",
      rule: 'must declare at least one queue when queueMode is "custom"',
      cure: 'Declare one, like { stripe: { rank: 1 } }, or set queueMode to "default"',
    };
  for (const [name, options] of declared) yield* oneQueue(name, options);
}

function* oneQueue(name: string, options: unknown): Problems {
  const field = `queues.${name}`;
  yield* mustBeName(field, name, "a queue's name");
  if (!isRecord(options)) {
    yield* mustBeRecord(field, options ?? null, "{ rank: 1, maxConcurrency: 3 }");
    return;
  }
  yield* mustKnowFields(`${field}.`, options, QUEUE_FIELDS);
  yield* mustBeWhole(`${field}.rank`, options.rank, 1, "Set it to 1 (served first) or more");
  yield* mustBeWhole(`${field}.maxConcurrency`, options.maxConcurrency, 1, NO_CAP);
}

/** A task's queue must exist. Otherwise the task would wait forever in a queue that no worker serves. */
export function* queueOfTask(field: string, queue: unknown, definition: AppDefinition): Problems {
  const declared = entriesOf(definition.queues).map(([name]) => name);
  const known = declared.length > 0 ? declared : [APP_DEFAULTS.queue];
  if (queue === undefined && !known.includes(APP_DEFAULTS.queue))
    yield {
      field,
      rule: `must be set, because no queue "${APP_DEFAULTS.queue}" is declared${unknownAmong("", known)}`,
      cure: `Name a declared queue, or declare one called "${APP_DEFAULTS.queue}"`,
    };
  else if (queue !== undefined && !known.includes(queue as string))
    yield {
      field,
      rule: `there is no queue "${queue}"${unknownAmong(String(queue), known)}`,
      cure: `Name a declared queue, or add "${queue}" to queues`,
    };
}
