/**
 * Which worker could run an admitted unit. A worker's own slots are the budget of the claimer, not a gate, so
 * no unit stands in line for them. But a unit whose workers are all full has a reason, and a slot that
 * another live worker should use is left to it.
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
  /** How many units it would take now, if that is less than its free slots. */
  readonly appetite?: number;
  /** How many new units it would claim, if that is bounded in addition to its slots. */
  readonly claims?: ClaimBounds;
}

/** The slots of all workers during the walk of a line. */
export interface Slots {
  /**
   * Takes one slot for the unit: the claimer's, if it serves the unit and has one, else another worker's. A
   * frontier only asks whether it could start, and takes nothing.
   */
  takerOf(unit: Waiter): "me" | "other" | undefined;
  /** The reason why no worker takes it. Counts it as waiting for its workers. */
  refuse(unit: Waiter): Reason;
  /**
   * Units for which the claimer has a slot, but no claims left in this pass: none, some that other workers
   * take, or some that only the claimer can take.
   */
  readonly postponed: "none" | "others" | "own";
}

export const noWorker = ({ queue = "", name = "" }: Waiter): Reason => ({ kind: "noWorker", queue, name });

/** Refused units, by the workers that serve them. */
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
      if (serving.length === 0) return noWorker(unit);
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
