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

export function fairTake(claiming: Claiming): number {
  const { wanted, me, hungry } = claiming;
  if (hungry.length === 0) return wanted;
  return Math.min(wanted, Math.max(0, fairPart(claiming) - me.used));
}

/** True if the claimer has no more than its fair part once it has taken `take` units. */
export const isFair = (claiming: Claiming, take: number): boolean =>
  claiming.hungry.length === 0 || claiming.me.used + take <= fairPart(claiming);

function fairPart({ wanted, left, me, hungry }: Claiming): number {
  const used = hungry.reduce((sum, worker) => sum + worker.used, 0);
  const slots = hungry.reduce((sum, worker) => sum + worker.slots, 0);
  const all = me.used + wanted + left + used;
  return Math.ceil((all * me.slots) / (me.slots + slots));
}
