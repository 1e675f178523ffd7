/**
 * Limits what a claimer takes when slots are scarce. A worker that completes and claims in the same pass
 * would keep its slots forever. So if gates bind and other workers are hungry, it takes only its fair share
 * and leaves the rest to them. Between balanced workers this holds no worker back.
 */
import type { GateWorker } from "./workers.ts";

interface Claiming {
  /** How many units the claimer could take now. */
  readonly wanted: number;
  /** The number of further units that are left to other workers. */
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
