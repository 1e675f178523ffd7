/**
 * Checks the key of a gate: a kind alone, like "cluster", or a kind and a name. Neither may be empty. A key that
 * no unit can ask for is refused, because its limit would have no effect.
 */
import { SluiceError } from "../error.ts";
import { checkText, shortly } from "../text.ts";
import { ANY, clusterKey, DEFAULT_NAMESPACE, parseKey, runsKey } from "./key.ts";
import type { Lock } from "./lock.ts";
import { lockNameProblem, namespaceProblem } from "./lock.ts";

/** Kinds with a single gate. */
const SINGLE: ReadonlySet<string> = new Set([clusterKey, runsKey]);
/** Kinds whose names cannot contain a star. The key of a tag may be any text. */
const NAMED: ReadonlySet<string> = new Set(["queue", "pool", "mutex", "semaphore"]);

export function checkKey(key: unknown): void {
  checkText("The key of a gate", key);
  const { kind, name, value } = parseKey(key as string);
  const endsEarly = (name.trim() === "" && (key as string).includes(":")) || value === "";
  if (SINGLE.has(kind) && (key as string) !== kind)
    throw noKey(key, `There is only one gate of its kind, with the key "${kind}".`);
  if (kind === "" || endsEarly) throw noKey(key);
  if (NAMED.has(kind) && name.includes(ANY))
    throw noKey(
      key,
      `A name cannot contain "${ANY}". A limit for each value of a pool is written pool:tenant=${ANY}.`,
    );
  if (isLockKind(kind)) checkLockKey(key as string, kind);
  if (kind === "pool" && value !== null && isManyValues(value))
    throw noKey(key, `"${ANY}" stands for every value, so no value begins with "${ANY}=".`);
}

const isLockKind = (kind: string): kind is Lock["kind"] => kind === "mutex" || kind === "semaphore";

/** The text after the kind is a namespace and a name. */
function checkLockKey(key: string, kind: Lock["kind"]): void {
  const rest = key.slice(kind.length + 1);
  const slash = rest.indexOf("/");
  if (slash < 0) throw noKey(key, `Write the namespace too, like ${kind}:${DEFAULT_NAMESPACE}/${rest}.`);
  const problem = namespaceProblem(rest.slice(0, slash)) ?? lockNameProblem(kind, rest.slice(slash + 1));
  if (problem !== undefined) throw noKey(key, `${problem}.`);
}

/** Looks like a family within a family. No unit may ask for such a value of a pool. */
export const isManyValues = (value: string): boolean => value.startsWith(`${ANY}=`);

/** True if a unit could ask for this key, or an operator set its limit. */
export function isKey(key: string): boolean {
  try {
    checkKey(key);
    return true;
  } catch {
    return false;
  }
}

export const noKey = (key: unknown, why = "A key is a kind and a name, like pool:gpu."): SluiceError =>
  new SluiceError("BAD_GATE", `${shortly(key)} is not the key of a gate. ${why}`);
