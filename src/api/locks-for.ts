/** The locks of a task outside of runs, or of a run, once its input is known. */
import { lockProblems } from "../core/app/locks.ts";
import { SluiceError } from "../core/error.ts";
import type { Lock } from "../core/gate/lock.ts";
import { checkLock, isText, locksOf } from "../core/gate/lock.ts";

interface Naming {
  readonly mutexes?: unknown;
  readonly semaphores?: unknown;
}

/** Lists may be functions of the input. What they return could not be checked with the app. */
export function locksFor(whose: string, naming: Naming, input: unknown, namespace: string): Lock[] {
  const named = { mutexes: listOf(naming.mutexes, input), semaphores: listOf(naming.semaphores, input) };
  for (const { field, rule, cure } of lockProblems("its", named))
    throw new SluiceError("BAD_LOCK", `${whose}: ${field.replace(".", " ")} ${rule}. ${cure}.`);
  const locks = locksOf(named, isText);
  for (const lock of locks) checkLock(whose, lock, namespace);
  return locks;
}

const listOf = (said: unknown, input: unknown): unknown => (typeof said === "function" ? said(input) : said);
