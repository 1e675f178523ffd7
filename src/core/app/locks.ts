/** Rules for the lists `mutexes` and `semaphores`. */
import type { Lock } from "../gate/lock.ts";
import { lockNameProblem, namespaceProblem } from "../gate/lock.ts";
import { sourceOf } from "../workflow/template.ts";
import { LOCK_FIELDS, mustKnowFields } from "./fields.ts";
import type { Problems } from "./rule.ts";
import { isRecord, mustBeBoolean, mustBeOneOf, mustBeWhole, shown } from "./rule.ts";

interface Naming {
  readonly mutexes?: unknown;
  readonly semaphores?: unknown;
}

/** `field` is that of the task, step or workflow. */
export function* lockProblems(field: string, { mutexes, semaphores }: Naming): Problems {
  yield* listProblems(`${field}.mutexes`, "mutex", mutexes);
  yield* listProblems(`${field}.semaphores`, "semaphore", semaphores);
}

/** Tasks and workflows may compute their locks from their input. */
export const computedOr = (field: string, naming: Naming): Problems =>
  lockProblems(field, { mutexes: listIn(naming.mutexes), semaphores: listIn(naming.semaphores) });

const listIn = (said: unknown): unknown => (typeof said === "function" ? undefined : said);

/** A step is put in line by processes that do not have the app's code, so it cannot call a function. */
export function* fixedLockProblems(field: string, called: Naming, options: Naming): Problems {
  for (const list of ["mutexes", "semaphores"] as const)
    if (typeof called[list] === "function" && options[list] === undefined)
      yield {
        field: `${field}.${list}`,
        rule: "must be set on the step, because a function of the input is called only outside of runs",
        cure: `Write them in the step's options, like { ${list}: [s.text\`deploy-\${input.env}\`] }`,
      };
}

function* listProblems(field: string, kind: Lock["kind"], list: unknown): Problems {
  if (list === undefined) return;
  if (!Array.isArray(list)) {
    yield { field, rule: `must be a list, but is ${shown(list)}`, cure: 'Write it like ["nightly"]' };
    return;
  }
  const seen = new Map<string, number>();
  for (const [index, lock] of list.entries()) {
    const at = `${field}[${index}]`;
    yield* oneLock(at, kind, lock);
    const { name, namespace = null } = isLock(lock) ? lock : { name: lock, namespace: null };
    const same = JSON.stringify([name, namespace]);
    if (seen.has(same))
      yield { field: at, rule: `${shown(name)} is named twice`, cure: `Name each ${kind} once` };
    seen.set(same, index);
  }
}

function* oneLock(field: string, kind: Lock["kind"], lock: unknown): Problems {
  if (!isLock(lock)) {
    yield* mustBeLockName(field, kind, lock);
    return;
  }
  yield* mustKnowFields(`${field}.`, lock, LOCK_FIELDS[kind]);
  yield* mustBeLockName(`${field}.name`, kind, lock.name);
  if (lock.namespace !== undefined && !isHole(lock.namespace)) {
    const rule = namespaceProblem(lock.namespace);
    if (rule) yield { field: `${field}.namespace`, rule, cure: NAMESPACE };
  }
  yield* mustBeOneOf(`${field}.line`, lock.line, ["skip"]);
  yield* mustBeBoolean(`${field}.keep`, lock.keep, "Write true to keep the lock between attempts");
  yield* mustBeBoolean(`${field}.database`, lock.database, "Write true for a lock of the sync database");
  if (lock.database === true)
    yield {
      field: `${field}.database`,
      rule: "needs a sync database, which is not available yet",
      cure: "Leave it out for a lock of this store",
    };
  if (kind === "semaphore") yield* mustBeWhole(`${field}.slots`, lock.slots, 1, "Ask for 1 slot or more");
}

const NAMESPACE = 'Use a text without "/", "=" and "*"';

function* mustBeLockName(field: string, kind: Lock["kind"], name: unknown): Problems {
  if (isHole(name)) return;
  const rule = lockNameProblem(kind, name);
  const cure =
    kind === "mutex" ? "Use a text without = and *" : "Write NAME, or CONFIGMAP/KEY, without = and *";
  if (rule) yield { field, rule, cure };
}

/** A lock with options. */
const isLock = (lock: unknown): lock is Readonly<Record<string, unknown>> => isRecord(lock) && !isHole(lock);

/** The value is known only in a run. */
const isHole = (value: unknown): boolean => isRecord(value) && sourceOf(value as never) !== undefined;
