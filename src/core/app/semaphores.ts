/** The limits of semaphores that an app declares. */
import { lockNameProblem } from "../gate/lock.ts";
import type { AppDefinition } from "./definition.ts";
import { LOCKS_FIELDS, mustKnowFields, SEMAPHORE_FIELDS } from "./fields.ts";
import { mustBeNamespace } from "./namespaces.ts";
import type { Problems } from "./rule.ts";
import { entriesOf, isRecord, mustBeRecord, mustBeWhole, shown } from "./rule.ts";

export function* semaphoreProblems({ semaphores, locks }: AppDefinition): Problems {
  yield* fileProblems(locks);
  yield* mustBeRecord("semaphores", semaphores, "{ licenses: 3 }");
  for (const [name, said] of entriesOf(semaphores)) yield* oneSemaphore(`semaphores.${name}`, name, said);
}

function* fileProblems(locks: unknown): Problems {
  yield* mustBeRecord("locks", locks, FILES);
  if (!isRecord(locks)) return;
  yield* mustKnowFields("locks.", locks, LOCKS_FIELDS);
  const { configMaps = [] } = locks;
  if (!Array.isArray(configMaps) || !configMaps.every((path) => typeof path === "string" && path !== ""))
    yield {
      field: "locks.configMaps",
      rule: `must be a list of paths, but is ${shown(configMaps)}`,
      cure: `Write it like ${FILES}`,
    };
}

const FILES = '{ configMaps: ["./locks/*.yaml"] }';

function* oneSemaphore(field: string, name: string, said: unknown): Problems {
  const rule = lockNameProblem("semaphore", name);
  if (rule) yield { field, rule, cure: "Write NAME, or CONFIGMAP/KEY, without = and *" };
  const cure = "Set it to 1 or more (to pause it, set its limit to 0 at run time)";
  if (!isRecord(said)) {
    yield* mustBeWhole(field, said ?? null, 1, cure);
    return;
  }
  yield* mustKnowFields(`${field}.`, said, SEMAPHORE_FIELDS);
  yield* mustBeWhole(`${field}.limit`, said.limit ?? null, 1, cure);
  yield* mustBeNamespace(`${field}.namespace`, said.namespace);
}

/** Undefined if the app does not declare the semaphore. A namespace of null is that of the run. */
export function declaredLimit(
  { semaphores }: AppDefinition,
  name: string,
  namespace: string | null,
): number | undefined {
  const said: unknown =
    isRecord(semaphores) && Object.hasOwn(semaphores, name) ? semaphores[name] : undefined;
  if (typeof said === "number") return namespace === null ? said : undefined;
  if (!isRecord(said) || typeof said.limit !== "number") return undefined;
  return (said.namespace ?? null) === namespace ? said.limit : undefined;
}
