/** Rules for the name under which an app's limits are stored. */
import type { AppDefinition } from "./definition.ts";
import type { Problems } from "./rule.ts";
import { shown } from "./rule.ts";

const LONGEST = 100;

/** Package names such as "@shop/worker" are allowed. */
export function isAppName(name: unknown): name is string {
  return typeof name === "string" && name.length <= LONGEST && /^[A-Za-z0-9@._/-]+$/.test(name);
}

export function* nameProblems({ name }: AppDefinition): Problems {
  if (name === undefined || isAppName(name)) return;
  const rule = (name as unknown) === "" ? "must not be empty" : `${shown(name)} cannot be an app's name`;
  yield {
    field: "name",
    rule,
    cure: `Use only letters, digits and @ . _ - /, at most ${LONGEST} characters`,
  };
}
