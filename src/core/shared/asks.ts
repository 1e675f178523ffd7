/**
 * Asks for locks that engines share are not asks for gates of this store. A run that has some asks for one
 * gate of its own instead, and its options say which locks it needs.
 */
import type { Ask } from "../gate/gate.ts";
import { isSharedLock, sharedGate } from "./lock.ts";

/** As options have them. */
export type StoredLocks = readonly (readonly [name: string, slots: number])[];

interface Apart {
  readonly asks: readonly Ask[];
  /** Left out without any. */
  readonly shared: { readonly shared?: StoredLocks };
}

export function apart(unit: string, asks: readonly Ask[]): Apart {
  const locks = asks.filter(({ gate }) => isSharedLock(gate));
  if (locks.length === 0) return { asks, shared: {} };
  return {
    asks: [...asks.filter(({ gate }) => !isSharedLock(gate)), { gate: sharedGate(unit), slots: 1 }],
    shared: { shared: locks.map(({ gate, slots }) => [gate, slots]) },
  };
}
