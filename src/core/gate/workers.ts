/**
 * Who could run an admitted unit. A worker's own slots are the budget of the claimer, not a gate: nobody stands
 * in a line for them, but a unit whose every worker is full has a reason, and a slot that another live worker
 * should use is left to it.
 */
import type { Waiter } from "./admit.ts";
import type { Reason } from "./reason.ts";

export interface Worker {
  readonly id: string;
  readonly slots: number;
  /** How many of its slots are in use. */
  readonly used: number;
}

/** The slots of all workers while a line is walked. */
export interface Slots {
  /** Takes one slot for the unit: the claimer's if it serves it and has one, else another's. */
  takerOf(unit: Waiter): "me" | "other" | undefined;
  reason(unit: Waiter): Reason;
}

export function slotsOf(workers: readonly Worker[], me: number | undefined): Slots {
  const free = workers.map((worker) => Math.max(0, worker.slots - worker.used));
  const takeFrom = (index: number): boolean => {
    const has = free[index] ?? 0;
    if (has > 0) free[index] = has - 1;
    return has > 0;
  };
  return {
    takerOf(unit) {
      const serving = unit.workers ?? [];
      if (me !== undefined && serving.includes(me) && takeFrom(me)) return "me";
      // A frontier only asks whether somebody could start it; it takes nothing.
      for (const index of serving) if (index !== me && takeFrom(index)) return me === undefined ? "me" : "other";
      return undefined;
    },
    reason(unit) {
      const serving = unit.workers ?? [];
      if (serving.length === 0) return { kind: "noWorker", queue: unit.queue ?? "", name: unit.name ?? "" };
      const slots = serving.reduce((sum, index) => sum + (workers[index]?.slots ?? 0), 0);
      return { kind: "busy", workers: serving.length, slots, ahead: unit.ahead?.[""] ?? 0 };
    },
  };
}
