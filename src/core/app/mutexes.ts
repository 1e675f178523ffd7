/** Rules for lists of mutexes. */
import type { Problems } from "./rule.ts";
import { mustBeName, shown } from "./rule.ts";

/** The names must be able to be part of a key, and none may appear twice. */
export function* mutexProblems(field: string, mutexes: unknown): Problems {
  if (mutexes === undefined) return;
  if (!Array.isArray(mutexes)) {
    yield { field, rule: `must be a list, but is ${shown(mutexes)}`, cure: 'Write it like ["nightly"]' };
    return;
  }
  for (const [index, mutex] of mutexes.entries()) {
    yield* mustBeName(`${field}[${index}]`, mutex, "a mutex's name");
    if (mutexes.indexOf(mutex) < index)
      yield {
        field: `${field}[${index}]`,
        rule: `"${mutex}" is named twice`,
        cure: "Name each mutex once",
      };
  }
}
