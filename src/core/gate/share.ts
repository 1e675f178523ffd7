/**
 * How much of what it could take a claimer should take when slots are scarce. A worker that completes and claims in
 * one breath would keep its slots for ever; so where gates bind and others are hungry, it takes no more than brings
 * it to its fair part, and leaves the rest to them. In balance this never holds anybody back.
 */
import type { GateWorker } from "./workers.ts";

interface Claiming {
  /** What the claimer could take now. */
  readonly wanted: number;
  /** What is left to others beside that. */
  readonly left: number;
  readonly me: GateWorker;
  /** Live workers that serve the same work and have free slots. */
  readonly hungry: readonly GateWorker[];
}

export function fairTake({ wanted, left, me, hungry }: Claiming): number {
  if (hungry.length === 0) return wanted;
  const used = hungry.reduce((sum, worker) => sum + worker.used, 0);
  const slots = hungry.reduce((sum, worker) => sum + worker.slots, 0);
  const all = me.used + wanted + left + used;
  const part = Math.ceil((all * me.slots) / (me.slots + slots));
  return Math.min(wanted, Math.max(0, part - me.used));
}
