import { describe, expect, it } from "vitest";
import type { Waiter } from "./admit.ts";
import { slotsOf } from "./workers.ts";

const unit = (workers: number[], more: Partial<Waiter> = {}): Waiter => ({
  id: "u",
  rank: 1,
  priority: 0,
  at: 0,
  lane: "",
  asks: [],
  workers,
  ...more,
});
const workers = [
  { id: "a", slots: 1, used: 0 },
  { id: "b", slots: 2, used: 1 },
  { id: "c", slots: 1, used: 3 },
];

describe("the slots of all workers", () => {
  it("are taken one by one, the claimer's first", () => {
    const slots = slotsOf(workers, 1);
    const takers = [0, 1, 2].map(() => slots.takerOf(unit([0, 1, 2])));
    expect(takers).toEqual(["me", "other", undefined]);
  });

  it("are nobody else's when nobody claims", () => {
    const slots = slotsOf(workers, undefined);
    expect([0, 1, 2].map(() => slots.takerOf(unit([0, 1, 2])))).toEqual(["me", "me", undefined]);
  });

  it("are taken for so many new claims as the claimer's bounds allow, altogether and of one queue", () => {
    const bounded = { id: "a", slots: 9, used: 0, claims: { inAll: 3, perQueue: 2 } };
    const slots = slotsOf([bounded], 0);
    const take = (queue: string, claimed = false) => slots.takerOf(unit([0], { queue, claimed }));
    expect([take("x"), take("x"), take("x")]).toEqual(["me", "me", undefined]);
    expect([take("y"), take("y")]).toEqual(["me", undefined]);
    // A unit that it has already claimed only starts now.
    expect(take("x", true)).toBe("me");
    expect(slots.postponed).toBe("own");
  });

  it("are not touched by the last known unit of a longer lane, which only asks", () => {
    const slots = slotsOf(workers, 0);
    const frontier = unit([0], { frontier: true });
    expect([slots.takerOf(frontier), slots.takerOf(frontier)]).toEqual(["me", "me"]);
    expect(slots.takerOf(unit([0]))).toBe("me");
    expect(slots.takerOf(frontier)).toBeUndefined();
  });

  it("that are all in use are a reason, which counts those refused before for one of the same workers", () => {
    const slots = slotsOf(workers, 0);
    const busy = (of: number[]): unknown => slots.refuse(unit(of));
    expect(busy([1])).toEqual({ kind: "busy", workers: 1, slots: 2, ahead: 0 });
    expect(busy([2])).toEqual({ kind: "busy", workers: 1, slots: 1, ahead: 0 });
    expect(busy([1, 2])).toEqual({ kind: "busy", workers: 2, slots: 3, ahead: 2 });
    expect(busy([2])).toMatchObject({ ahead: 2 });
    expect(slots.refuse(unit([], { queue: "q", name: "n" }))).toEqual({
      kind: "noWorker",
      queue: "q",
      name: "n",
    });
    expect(busy([2])).toMatchObject({ ahead: 3 });
  });
});
