/** Rules for the tags of a run, wherever they come from. */
import { ANY, tagKey } from "../gate/key.ts";
import { textProblem } from "../text.ts";
import type { AppTagLimit } from "./app.ts";
import type { Problems } from "./rule.ts";
import { entriesOf, mustBeRecord, shown } from "./rule.ts";

/** Also checks tags that are given with a submission. */
export function* tagProblems(field: string, tags: unknown): Problems {
  yield* mustBeRecord(field, tags, '{ env: "prod" }');
  for (const [key, value] of entriesOf(tags)) {
    yield* mustBeTagKey(`${field}.${key}`, key);
    yield* mustBeTagValue(`${field}.${key}`, value);
    yield* mustFitKey(`${field}.${key}`, key, value);
  }
}

/** Key and value together form the key of a gate. */
export function* mustFitKey(field: string, key: unknown, value: unknown): Problems {
  if (typeof key !== "string" || (value !== undefined && typeof value !== "string")) return;
  const rule = textProblem(tagKey(key, value));
  if (rule) yield { field, rule, cure: "Change it, or make it part of the run's input" };
}

export function* mustBeTagKey(field: string, key: unknown): Problems {
  const isBlank = typeof key === "string" && key.trim() === "";
  if (typeof key === "string" && !isBlank && !key.includes("=")) return;
  const rule = isBlank ? "a tag's key must not be blank" : `${shown(key)} cannot be a tag's key`;
  yield { field, rule, cure: 'Use any text without "="' };
}

/** `ANY` stands for every value, so a tag cannot have it as its own. */
export function* mustBeTagValue(field: string, value: unknown): Problems {
  if (typeof value === "string" && value !== "" && value !== ANY) return;
  const rule = value === "" ? "a tag's value must not be empty" : `${shown(value)} cannot be a tag's value`;
  yield { field, rule, cure: `Use any text except "${ANY}"` };
}

/** The gate of a limit on tags. */
export function tagLimitKey({
  key,
  value,
  perValue,
}: Pick<AppTagLimit, "key" | "value" | "perValue">): string {
  return tagKey(key, perValue ? ANY : (value ?? undefined));
}
