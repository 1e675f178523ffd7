/**
 * Rules for a step over a list, checked before there is a run. A list that is only a reference is checked
 * once its value is known.
 */
import type { PlannedEach } from "../workflow/each.ts";
import type { Template } from "../workflow/template.ts";
import { NOTHING, sourceOf } from "../workflow/template.ts";
import type { Problems } from "./rule.ts";
import { isRecord, mustBeOneOf, mustBeWhole, shown } from "./rule.ts";

export function* eachProblems(field: string, { items, concurrency, onFailure }: PlannedEach): Problems {
  if ("list" in items) yield* mustBeList(`${field}.items`, items.list);
  else if ("entries" in items) yield* mustBeMap(`${field}.items`, items.entries);
  else yield* mustGoTogether(`${field}.items`, items.zip);
  const anyNumber = "Set how many items may run at once, or leave it out for as many as other limits allow";
  if (!isReference(concurrency)) yield* mustBeWhole(`${field}.concurrency`, concurrency, 1, anyNumber);
  yield* mustBeOneOf(`${field}.onFailure`, onFailure, ["run-all", "stop", "cancel"]);
}

function* mustBeList(field: string, list: Template): Problems {
  if (Array.isArray(list) || isReference(list)) return;
  yield {
    field,
    rule: `must be a list, but is ${sayTemplate(list)}`,
    cure: "Pass a list or the output of a step, like users.output; for an object, write entries(…)",
  };
}

function* mustBeMap(field: string, map: Template): Problems {
  if (isReference(map) || (isRecord(map) && map !== NOTHING)) return;
  yield {
    field,
    rule: `must be an object for entries(…), but is ${sayTemplate(map)}`,
    cure: "Pass an object, or a list without entries(…)",
  };
}

function* mustGoTogether(field: string, lists: readonly Template[]): Problems {
  if (lists.length === 0) yield { field, rule: "zip(…) has no lists", cure: "Pass it the lists to combine" };
  for (const [index, list] of lists.entries()) yield* mustBeList(`${field}[${index}]`, list);
  const lengths = lists.filter((list) => Array.isArray(list)).map(({ length }) => length);
  if (new Set(lengths).size > 1)
    yield {
      field,
      rule: `lists in zip(…) must have the same length, but have ${lengths.join(", ")}`,
      cure: "Make them the same length",
    };
}

function isReference(template: Template | undefined): boolean {
  return template !== undefined && sourceOf(template) !== undefined;
}

const sayTemplate = (template: Template): string => shown(template === NOTHING ? undefined : template);
