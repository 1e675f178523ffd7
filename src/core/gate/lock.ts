/**
 * Locks as people write them, and as gates. A lock is named by a namespace and a name. Without a namespace of its own
 * it has the namespace of the run that asks, so equal names of two namespaces are two locks.
 *
 * Mutexes, semaphores and the locks of a sync database are separate families: equal names of two families are two
 * locks.
 */
import { SluiceError } from "../error.ts";
import { MOST_SLOTS } from "../number.ts";
import { shortly, textProblem } from "../text.ts";
import type { Ask } from "./gate.ts";
import { ANY, mutexKey, semaphoreKey } from "./key.ts";

/** The options of a mutex. `Name` is a text, or anything that becomes one once a run is in progress. */
export interface MutexAsk<Name = string> {
  readonly name: Name;
  /** Two runs of different namespaces share a lock if both name the same one here. */
  readonly namespace?: Name;
  /** Gives up its place in the line of this lock while it waits, so others may pass. The default is to keep it. */
  readonly line?: "skip";
  /** Keeps the lock from the first attempt to the end of the last one. By default a retry waits without it. */
  readonly keep?: boolean;
  /** A lock that several engines share through a database. */
  readonly database?: boolean;
}

/** A semaphore is named NAME, or CONFIGMAP/KEY. */
export interface SemaphoreAsk<Name = string> extends MutexAsk<Name> {
  /** The default is 1. */
  readonly slots?: number;
}

/** The locks of a task, a step or a workflow. A name alone means all defaults. */
export interface LockAsks<Name = string> {
  readonly mutexes?: readonly (Name | MutexAsk<Name>)[];
  readonly semaphores?: readonly (Name | SemaphoreAsk<Name>)[];
}

/** A lock that a unit asks for, with every default but the namespace of its run. */
export interface Lock<Name = string> {
  readonly kind: "mutex" | "semaphore";
  readonly name: Name;
  /** Null means the namespace of the run. */
  readonly namespace: Name | null;
  readonly slots: number;
  readonly line?: "skip";
  readonly keep?: true;
  readonly database?: true;
}

type Written<Name> = Name | SemaphoreAsk<Name>;

/** `isName` tells a name from an object with a name. Fields of the wrong shape are left out; other rules report them. */
export function locksOf<Name>(
  asks: { readonly mutexes?: unknown; readonly semaphores?: unknown },
  isName: (value: unknown) => value is Name,
): Lock<Name>[] {
  const of = (kind: Lock["kind"], list: unknown): Lock<Name>[] =>
    Array.isArray(list) ? list.flatMap((each: Written<Name>) => lockOf(kind, each, isName)) : [];
  return [...of("mutex", asks.mutexes), ...of("semaphore", asks.semaphores)];
}

function lockOf<Name>(
  kind: Lock["kind"],
  written: Written<Name>,
  isName: (value: unknown) => value is Name,
): Lock<Name>[] {
  if (isName(written)) return [{ kind, name: written, namespace: null, slots: 1 }];
  if (typeof written !== "object" || written === null) return [];
  const { name, namespace, slots = 1, line, keep, database } = written as SemaphoreAsk<Name>;
  if (!isName(name)) return [];
  return [
    {
      kind,
      name,
      namespace: namespace !== undefined && isName(namespace) ? namespace : null,
      slots: kind === "mutex" ? 1 : slots,
      ...(line === "skip" ? { line } : {}),
      ...(keep === true ? { keep } : {}),
      ...(database === true ? { database } : {}),
    },
  ];
}

export const isText = (value: unknown): value is string => typeof value === "string";

const lockKey = ({ kind, name, namespace }: Lock, ofRun: string): string =>
  (kind === "mutex" ? mutexKey : semaphoreKey)(name, namespace ?? ofRun);

/**
 * The asks of these locks. A unit that names a lock twice holds it once, with the larger number of slots, and keeps
 * its place in line unless it gives it up each time.
 */
export function asksOfLocks(locks: readonly Lock[], ofRun: string): Ask[] {
  const asks = new Map<string, Ask>();
  for (const lock of locks) {
    const gate = lockKey(lock, ofRun);
    const known = asks.get(gate);
    const skips = lock.line === "skip" && (known === undefined || known.line === "skip");
    const slots = Math.max(lock.slots, known?.slots ?? 0);
    asks.set(gate, { gate, slots, ...(skips ? { line: "skip" } : {}) });
  }
  return [...asks.values()];
}

const WHAT = { mutex: "a mutex's name", semaphore: "a semaphore's name" } as const;

/** The problem with a name of a lock, as a sentence about it. Undefined if there is none. */
export function lockNameProblem(kind: Lock["kind"], name: unknown): string | undefined {
  const problem = textProblem(name) ?? inKey(name as string) ?? slashes(kind, name as string);
  return problem && `${shortly(name)} cannot be ${WHAT[kind]}: it ${problem}`;
}

export function namespaceProblem(name: unknown): string | undefined {
  const problem = textProblem(name) ?? inKey(name as string) ?? (name as string).match(/\//)?.[0];
  return (
    problem &&
    `${shortly(name)} cannot be a namespace: it ${problem === "/" ? 'must not contain "/"' : problem}`
  );
}

/** These characters have a meaning in the keys of gates. */
const inKey = (name: string): string | undefined =>
  ["=", ANY].flatMap((mark) => (name.includes(mark) ? [`must not contain "${mark}"`] : []))[0];

function slashes(kind: Lock["kind"], name: string): string | undefined {
  const parts = name.split("/");
  if (parts.includes("")) return 'must not begin or end with "/" or have two of them in a row';
  return kind === "semaphore" && parts.length > 2 ? 'must not contain more than one "/"' : undefined;
}

/** Refuses a lock whose names were only known now. `whose` begins the message: `step "deploy"`. */
export function checkLock(whose: string, lock: Lock<unknown>, ofRun: string): asserts lock is Lock {
  const { kind, name, namespace, slots } = lock;
  const problem =
    lockNameProblem(kind, name) ??
    (namespace === null ? undefined : namespaceProblem(namespace)) ??
    (Number.isSafeInteger(slots) && slots >= 1 && slots <= MOST_SLOTS
      ? keyProblem(lock as Lock, ofRun)
      : `${kind} ${shortly(name)}: slots must be a whole number from 1 to ${MOST_SLOTS}`);
  if (problem !== undefined) throw new SluiceError("BAD_LOCK", `${whose}: ${problem}.`);
}

/** The key holds the namespace too, so both together may be too long. */
function keyProblem(lock: Lock, ofRun: string): string | undefined {
  const problem = textProblem(lockKey(lock, ofRun));
  return problem && `the key of ${lock.kind} ${shortly(lock.name)} ${problem}`;
}
