/**
 * The locks of a step. A name may refer to the input of the run or to an earlier output, so it is a template. It
 * becomes a text when the step is put in line, and the step fails if it does not.
 */
import type { Ask } from "../gate/gate.ts";
import type { Lock } from "../gate/lock.ts";
import { asksOfLocks, checkLock, isText, locksOf } from "../gate/lock.ts";
import { referredBy } from "./reference.ts";
import type { Template, Values } from "./template.ts";
import { render, sourceOf } from "./template.ts";

type Options = { readonly mutexes?: unknown; readonly semaphores?: unknown };
type Wire = (value: unknown, field: string) => Template;

/** The same options, with templates for the names of locks. */
export function withLocks<Given extends Options>(options: Given, wire: Wire): Given {
  const { mutexes, semaphores } = options;
  return {
    ...options,
    ...(mutexes === undefined ? {} : { mutexes: wired(mutexes, "mutexes", wire) }),
    ...(semaphores === undefined ? {} : { semaphores: wired(semaphores, "semaphores", wire) }),
  };
}

/** Only names are templates. Everything else is left as it was written, for the app check. */
function wired(list: unknown, field: string, wire: Wire): unknown {
  if (!Array.isArray(list)) return list;
  return list.map((lock: unknown, index) => {
    const at = `${field}[${index}]`;
    if (!isObject(lock) || referredBy(lock)) return wireName(lock, at, wire);
    return {
      ...lock,
      ...("name" in lock ? { name: wireName(lock.name, `${at}.name`, wire) } : {}),
      ...("namespace" in lock ? { namespace: wireName(lock.namespace, `${at}.namespace`, wire) } : {}),
    };
  });
}

const wireName = (name: unknown, field: string, wire: Wire): unknown =>
  isObject(name) ? wire(name, field) : name;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** A text, or a template that refers to a value. */
const isName = (value: unknown): value is Template =>
  isText(value) || (isObject(value) && sourceOf(value as Template) !== undefined);

/** The locks of a planned step. */
export const locksIn = (options: Options): Lock<Template>[] => locksOf(options, isName);

/** The locks of a task or a workflow. A function is not among them: its input is not known. */
export const locksOfTask = (options: Options): Lock[] => locksOf(options, isText);

/** The field of a graph's step. It is left out if it is empty, so graphs without locks are as before. */
export const lockField = (locks: readonly Lock<Template>[]): { locks?: readonly Lock<Template>[] } =>
  locks.length > 0 ? { locks } : {};

/** The asks for a step's locks, now that its values are known. Refuses a name that is not a text. */
export function asksNow(
  { name, locks = [] }: { readonly name: string; readonly locks?: readonly Lock<Template>[] },
  namespace: string,
  values: Values,
): Ask[] {
  const named = locks.map((lock) => {
    const made = {
      ...lock,
      name: render(lock.name, values),
      namespace: lock.namespace === null ? null : render(lock.namespace, values),
    };
    checkLock(`step "${name}"`, made, namespace);
    return made;
  });
  return asksOfLocks(named, namespace);
}
