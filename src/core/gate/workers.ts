/**
 * Who could run an admitted unit. A worker's own slots are the budget of the claimer, not a gate: nobody stands
 * in a line for them, but a unit whose every worker is full has a reason, and a slot that another live worker
 * should use is left to it.
 */
import type { ClaimBounds } from "./claim-budget.ts";
import { ClaimBudget } from "./claim-budget.ts";
import type { Reason } from "./reason.ts";
import type { Waiter } from "./waiter.ts";

export interface GateWorker {
  readonly id: string;
  readonly slots: number;
  /** How many of its slots are in use. */
  readonly used: number;
  /** How many it would take now, where that is less than all that are free. */
  readonly appetite?: number;
  /** How many it would claim anew, where that is bounded beside its slots. */
  readonly claims?: ClaimBounds;
}

/** The slots of all workers while a line is walked. */
export interface Slots {
  /**
   * Takes one slot for the unit: the claimer's if it serves it and has one, else another's. A frontier only asks
   * whether somebody could start it, and takes nothing.
   */
  takerOf(unit: Waiter): "me" | "other" | undefined;
  /** Why nobody takes it. Counts it as waiting for its workers. */
  refuse(unit: Waiter): Reason;
  /** Who the claimer had a slot for, but may only claim another time: nobody, some that others take, some it must. */
  readonly postponed: "none" | "others" | "own";
}

/** Units that were refused, by the workers that serve them. */
interface Refused {
  readonly workers: readonly number[];
  units: number;
}

export function slotsOf(workers: readonly GateWorker[], me: number | undefined): Slots {
  const free = workers.map((worker) =>
    Math.max(0, Math.min(worker.slots - worker.used, worker.appetite ?? worker.slots)),
  );
  const refused = new Map<string, Refused>();
  const has = (index: number): boolean => (free[index] ?? 0) > 0;
  const budget = new ClaimBudget((me !== undefined && workers[me]?.claims) || {});
  let postponed: Slots["postponed"] = "none";
  return {
    get postponed() {
      return postponed;
    },
    takerOf(unit) {
      const serving = unit.workers ?? [];
      const could = me !== undefined && serving.includes(me) && has(me);
      const mine = could && (unit.claimed === true || budget.allows(unit.queue ?? ""));
      const index = mine ? me : serving.find((other) => other !== me && has(other));
      if (could && !mine) {
        if (index === undefined) postponed = "own";
        else if (postponed === "none" && !unit.frontier) postponed = "others";
      }
      if (index === undefined) return undefined;
      if (!unit.frontier) {
        free[index] = (free[index] as number) - 1;
        if (mine && !unit.claimed) budget.spend(unit.queue ?? "");
      }
      return mine || me === undefined ? "me" : "other";
    },
    refuse(unit) {
      const serving = unit.workers ?? [];
      if (serving.length === 0) return { kind: "noWorker", queue: unit.queue ?? "", name: unit.name ?? "" };
      const slots = serving.reduce((sum, index) => sum + (workers[index]?.slots ?? 0), 0);
      let ahead = 0;
      for (const other of refused.values()) {
        if (other.workers.some((index) => serving.includes(index))) ahead += other.units;
      }
      const same = String(serving);
      const alike = refused.get(same) ?? { workers: serving, units: 0 };
      alike.units += 1;
      refused.set(same, alike);
      return { kind: "busy", workers: serving.length, slots, ahead: unit.ahead?.[""] ?? ahead };
    },
  };
}
