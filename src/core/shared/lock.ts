/**
 * The names of locks that several engines share. They live in the sync database: `mtx/NAMESPACE/KEY` and
 * `sem/NAMESPACE/KEY`. The limit of a semaphore stands under `NAMESPACE/KEY`. A namespace contains no slash.
 */

/** A lock that a unit needs, and how many slots of it. */
export interface SharedLock {
  readonly name: string;
  readonly slots: number;
}

const MUTEX = "mtx/";
const SEMAPHORE = "sem/";

export const sharedMutex = (namespace: string, key: string): string => `${MUTEX}${namespace}/${key}`;
export const sharedSemaphore = (namespace: string, key: string): string => `${SEMAPHORE}${namespace}/${key}`;

/** The name under which the limit of a semaphore is set. Undefined for a mutex, whose limit is always 1. */
export const limitNameOf = (lock: string): string | undefined =>
  lock.startsWith(SEMAPHORE) ? lock.slice(SEMAPHORE.length) : undefined;

export const isSharedLock = (name: string): boolean => name.startsWith(MUTEX) || name.startsWith(SEMAPHORE);

/** `shared mutex "foo/bar"` */
export const sharedTitle = (lock: string): string =>
  `shared ${lock.startsWith(MUTEX) ? "mutex" : "semaphore"} "${lock.slice(MUTEX.length)}"`;

/**
 * The gate of one unit that needs shared locks. It is closed until the unit has them all, so no pass admits
 * the unit before.
 */
export const sharedGate = (unit: string): string => `${SHARED}${unit}`;

/** The unit of such a gate. Undefined for every other gate. */
export const unitOfSharedGate = (gate: string): string | undefined =>
  gate.startsWith(SHARED) ? gate.slice(SHARED.length) : undefined;

const SHARED = "shared:";
