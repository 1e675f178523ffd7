/** Rules for the limits on runs. */
import { UNLIMITED } from "../gate/gate.ts";
import type { AppDefinition } from "./definition.ts";
import { mustKnowFields, RUN_FIELDS, TAG_FIELDS } from "./fields.ts";
import type { Problems } from "./rule.ts";
import {
  isRecord,
  mustBeBoolean,
  mustBeDuration,
  mustBeOneOf,
  mustBeRecord,
  mustBeWhole,
  shown,
} from "./rule.ts";
import { mustBeTagKey, mustBeTagValue, mustFitKey, tagLimitKey } from "./tags.ts";

const LIKE = '{ key: "tenant", perValue: true, limit: 1 }';
const MAX = `Set it to 1 or more, or to ${UNLIMITED} for no cap (to pause it, set its limit to 0 at run time)`;

export function* runProblems({ runs }: AppDefinition): Problems {
  yield* mustBeRecord("runs", runs, "{ max: 10 }");
  if (!isRecord(runs)) return;
  yield* mustKnowFields("runs.", runs, RUN_FIELDS);
  if (runs.max !== UNLIMITED) yield* mustBeWhole("runs.max", runs.max, 1, MAX);
  yield* mustBeDuration("runs.startTimeout", runs.startTimeout);
  yield* mustBeOneOf("runs.onStartTimeout", runs.onStartTimeout, ["requeue", "fail"]);
  yield* mustBeOneOf("runs.whileWaiting", runs.whileWaiting, ["hold", "release"]);
  if (runs.tags !== undefined) yield* tagLimitProblems(runs.tags);
}

function* tagLimitProblems(tags: unknown): Problems {
  if (!Array.isArray(tags)) {
    yield {
      field: "runs.tags",
      rule: `must be a list, but is ${shown(tags)}`,
      cure: `Write it like [${LIKE}]`,
    };
    return;
  }
  const firstAt = new Map<string, number>();
  for (const [index, tag] of tags.entries()) {
    const field = `runs.tags[${index}]`;
    yield* mustBeRecord(field, tag ?? null, LIKE);
    if (!isRecord(tag)) continue;
    yield* oneTagLimit(field, tag);
    const gate = tagLimitKey(tag as never);
    const first = firstAt.get(gate);
    if (first === undefined) firstAt.set(gate, index);
    else
      yield {
        field,
        rule: `limits the same runs as runs.tags[${first}]`,
        cure: "Keep one of the two",
      };
  }
}

function* oneTagLimit(field: string, tag: Readonly<Record<string, unknown>>): Problems {
  yield* mustKnowFields(`${field}.`, tag, TAG_FIELDS);
  yield* mustBeTagKey(`${field}.key`, tag.key);
  if (tag.value !== undefined) yield* mustBeTagValue(`${field}.value`, tag.value);
  yield* mustFitKey(field, tag.key, tag.value);
  yield* mustBeBoolean(`${field}.perValue`, tag.perValue, "Write true for one limit per value");
  const cure = "Set it to 1 or more (to pause it, set its limit to 0 at run time)";
  yield* mustBeWhole(`${field}.limit`, tag.limit ?? null, 1, cure);
  if (tag.perValue === true && tag.value !== undefined)
    yield {
      field: `${field}.perValue`,
      rule: `must not be true when a value is named, ${shown(tag.value)}`,
      cure: "Leave out value for one limit per value, or perValue for a limit on this one",
    };
}
