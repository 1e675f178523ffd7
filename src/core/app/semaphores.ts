/** The limits of semaphores that an app declares. */
import type { AppDefinition } from "./definition.ts";
import { isRecord } from "./rule.ts";

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
