import { describe, expect, it } from "vitest";
import type { Asks } from "../../../test/support/gates-and-line.ts";
import { decide, gate, kinds, started, unit } from "../../../test/support/gates-and-line.ts";
import type { Bypass, Mark, Waiter } from "./admit.ts";
import { BYPASS } from "./admit.ts";
import type { Reason } from "./reason.ts";
import { gatesNamed } from "./reason.ts";

describe("a pool", () => {
  const large: Asks = { db: 3 };
  const lane = JSON.stringify(large);
  const mark = (passed: number, since = 0, unit = "large"): { mark: Mark } => ({
    mark: { unit, passed, since },
  });

  it("lets small asks overtake a large one, and marks how often and since when", () => {
    const units = [unit("large", large), unit("s1", { db: 1 }), unit("s2", { db: 1 }), unit("s3", { db: 1 })];
    const plan = decide([gate("db", "bypass", 4, 2)], units, { now: 777 });
    expect(started(plan)).toEqual(["s1", "s2"]);
    expect(plan.marks.get(lane)).toEqual({ unit: "large", passed: 2, since: 777 });
  });

  it("goes on with the mark of the same head, and begins anew with another", () => {
    const gates = [gate("db", "bypass", 4, 2)];
    const small = unit("s1", { db: 1 });
    const known = decide(gates, [unit("large", large, mark(7, 5)), small], { now: 50 });
    expect(known.marks.get(lane)).toEqual({ unit: "large", passed: 8, since: 5 });
    const other = decide(gates, [unit("large", large, mark(7, 5, "gone")), small], { now: 50 });
    expect(other.marks.get(lane)).toEqual({ unit: "large", passed: 1, since: 50 });
  });

  it("reports no mark that did not change", () => {
    const plan = decide([gate("db", "bypass", 4, 2)], [unit("large", large, mark(7, 5))], { now: 50 });
    expect(plan.marks.size).toBe(0);
  });

  it("marks only the head of a lane", () => {
    const units = [unit("large", large), unit("next", large), unit("s1", { db: 1 })];
    const plan = decide([gate("db", "bypass", 4, 2)], units);
    expect([...plan.marks.values()].map(({ unit }) => unit)).toEqual(["large"]);
  });

  it("counts a unit that overtakes at two pools once", () => {
    const gates = [gate("db", "bypass", 4, 2), gate("gpu", "bypass", 4, 2)];
    const plan = decide(gates, [unit("large", { db: 3, gpu: 3 }), unit("s", { db: 1, gpu: 1 })]);
    expect([...plan.marks.values()]).toEqual([{ unit: "large", passed: 1, since: 0 }]);
  });

  it("counts who takes from a pool that still had room for the large one: next time it may lack it", () => {
    const gates = [gate("db", "bypass", 4, 2), gate("gpu", "bypass", 3)];
    const plan = decide(gates, [unit("large", { db: 3, gpu: 3 }), unit("s", { gpu: 1 })]);
    expect([...plan.marks.values()]).toEqual([{ unit: "large", passed: 1, since: 0 }]);
  });

  it("is overtaken 100 times or for 60 seconds, then the large one reserves", () => {
    expect(BYPASS).toEqual({ passes: 100, ms: 60_000 });
    const gates = [gate("db", "bypass", 4, 2)];
    const small = unit("s1", { db: 1 });
    const overtaken = (passed: number, now: number): string[] =>
      started(decide(gates, [unit("large", large, mark(passed)), small], { now }));
    expect(overtaken(99, 59_999)).toEqual(["s1"]);
    expect(overtaken(100, 0)).toEqual([]);
    expect(overtaken(0, 60_000)).toEqual([]);
  });

  it("held for a large ask says `behind`, with the large one in front", () => {
    const plan = decide(
      [gate("db", "bypass", 4, 2)],
      [unit("large", large, mark(100)), unit("s1", { db: 1 })],
    );
    expect(plan.waiting.get("s1")).toMatchObject([
      {
        kind: "behind",
        gate: "db",
        held: 2,
        front: { unit: "large", reasons: [{ kind: "full", gate: "db" }] },
      },
    ]);
  });

  it("is not reserved by a mark that names another unit", () => {
    const units = [unit("large", large, mark(100, 0, "gone")), unit("s1", { db: 1 })];
    expect(started(decide([gate("db", "bypass", 4, 2)], units))).toEqual(["s1"]);
  });

  it("is reserved with all other pools of the large one at once", () => {
    const gates = [gate("db", "bypass", 4, 2), gate("gpu", "bypass", 1)];
    const both = unit("large", { db: 3, gpu: 1 }, mark(100));
    const plan = decide(gates, [both, unit("a", { gpu: 1 }), unit("b", { db: 1 })]);
    expect(started(plan)).toEqual([]);
    expect(kinds(plan, "a")).toEqual(["behind gpu"]);
    expect(kinds(plan, "b")).toEqual(["behind db"]);
  });

  it("is reserved by the first over the bound only, and a second one reserves nowhere", () => {
    const gates = [gate("db", "bypass", 4, 2), gate("gpu", "bypass", 4, 2)];
    const first = unit("large", { db: 3 }, mark(100));
    const second = unit("second", { db: 4, gpu: 3 }, mark(100, 0, "second"));
    const plan = decide(gates, [first, second, unit("a", { gpu: 1 }), unit("b", { db: 1 })]);
    expect(started(plan)).toEqual(["a"]);
    expect(plan.waiting.get("b")).toMatchObject([{ kind: "behind", front: { unit: "large" } }]);
  });

  it("is reserved by a unit whose skip gate is full, too, and says so", () => {
    const gates = [gate("db", "bypass", 4, 2), gate("queue", "skip", 1, 1)];
    const plan = decide(gates, [unit("large", { db: 3, queue: 1 }, mark(100)), unit("s", { db: 1 })]);
    expect(started(plan)).toEqual([]);
    expect([...gatesNamed(plan.waiting.get("s") as Reason[])]).toEqual(["db", "queue"]);
  });

  it("stays reserved once it is gathered and the skip gate alone is in the way", () => {
    const gates = [gate("db", "bypass", 3), gate("queue", "skip", 1, 1)];
    const both: Asks = { db: 3, queue: 1 };
    expect(started(decide(gates, [unit("large", both, mark(100)), unit("s", { db: 1 })]))).toEqual([]);
    expect(started(decide(gates, [unit("large", both, mark(99)), unit("s", { db: 1 })]))).toEqual(["s"]);
  });

  it("that has room counts nobody who passes a unit at its skip gate", () => {
    const gates = [gate("db", "bypass", 4), gate("queue", "skip", 1, 1)];
    const both: Asks = { db: 3, queue: 1 };
    expect(decide(gates, [unit("large", both), unit("s", { db: 1 })]).marks.size).toBe(0);
    expect(decide(gates, [unit("large", both, mark(7)), unit("s", { db: 1 })]).marks.size).toBe(0);
  });

  it("is not kept idle for a unit at a full skip gate while others ahead take the next slots there", () => {
    const gates = [gate("db", "bypass", 4, 2), gate("queue", "skip", 1, 1), gate("lock", "strict", 1, 1)];
    const large = unit("large", { db: 3, queue: 1 }, mark(100));
    const small = unit("s", { db: 1 });
    const next = unit("next", { queue: 1 });
    expect(started(decide(gates, [next, large, small]))).toEqual(["s"]);
    expect(started(decide(gates, [{ ...next, frontier: true }, large, small]))).toEqual(["s"]);
    expect(started(decide(gates, [large, next, small]))).toEqual([]);
    // A unit that also waits for something else does not take the next slot, nor does one that no worker
    // serves.
    expect(started(decide(gates, [unit("other", { queue: 1, lock: 1 }), large, small]))).toEqual([]);
    const workers = [{ id: "w", slots: 9, used: 0 }];
    const served = (one: Waiter, by: number[]): Waiter => ({ ...one, workers: by });
    const line = [served(next, []), served(large, [0]), served(small, [0])];
    expect(started(decide(gates, line, { workers, me: 0 }))).toEqual([]);
  });

  it("is not kept for a unit that waits for a strict gate alone: that one waits for it", () => {
    const gates = [gate("db", "bypass", 3), gate("lock", "strict", 1, 1)];
    const large = unit("large", { db: 3, lock: 1 }, mark(100));
    expect(started(decide(gates, [large, unit("s", { db: 1 })]))).toEqual(["s"]);
  });

  it("counts no more once the bound is reached", () => {
    const gates = [gate("db", "bypass", 4, 2), gate("gpu", "bypass", 4)];
    const units = [unit("large", { db: 3, gpu: 1 }, mark(100)), unit("s", { gpu: 1 })];
    const plan = decide(gates, units);
    expect(started(plan)).toEqual(["s"]);
    expect(plan.marks.size).toBe(0);
  });

  it("lets those behind a reservation take what is left beyond it", () => {
    const gates = [gate("db", "bypass", 4, 2), gate("gpu", "bypass", 3)];
    const both = unit("large", { db: 3, gpu: 1 }, mark(100));
    expect(started(decide(gates, [both, unit("a", { gpu: 2 }), unit("b", { gpu: 1 })]))).toEqual(["a"]);
  });

  it("gathers what is freed until the large one starts", () => {
    const line = [unit("large", large, mark(100)), unit("s1", { db: 1 }), unit("s2", { db: 1 })];
    expect(started(decide([gate("db", "bypass", 4, 3)], line))).toEqual([]);
    expect(started(decide([gate("db", "bypass", 4, 2)], line))).toEqual([]);
    expect(started(decide([gate("db", "bypass", 4, 1)], line))).toEqual(["large"]);
    expect(started(decide([gate("db", "bypass", 4, 0)], line))).toEqual(["large", "s1"]);
  });
});

describe("a unit that needs its queue and a pool, which come free at different moments", () => {
  const limits = [gate("queue:q", "skip", 1), gate("queue:other", "skip", -1), gate("pool", "bypass", 2)];
  const QUEUE_TASK = 10;
  const POOL_TASK = 4;

  /**
   * Seconds until it starts. All other units come behind it: 10 s tasks of its queue, 4 s tasks of its pool.
   */
  function secondsUntilStart(queueFreeAt: number, bypass: Bypass): number {
    const pool = unit("pool", { "queue:other": 1, pool: 1 });
    const queue = unit("queue", { "queue:q": 1 });
    const big = unit("big", { "queue:q": 1, pool: 2 });
    let running = [
      { unit: queue, end: queueFreeAt },
      { unit: pool, end: POOL_TASK / 2 },
      { unit: pool, end: POOL_TASK },
    ];
    let mark: Mark | undefined;
    for (let second = 0; second < 1_000; second++) {
      running = running.filter(({ end }) => end > second);
      const held = (key: string): number =>
        running.reduce((sum, one) => sum + (one.unit.asks.find(({ gate }) => gate === key)?.slots ?? 0), 0);
      const gates = limits.map((one) => ({ ...one, held: held(one.key) }));
      const line = [{ ...big, mark }, queue, pool, { ...pool, id: "pool 2" }];
      const plan = decide(gates, line, { now: second * 1_000, bypass });
      if (started(plan).includes("big")) return second;
      mark = plan.marks.get(big.lane) ?? mark;
      for (const one of plan.admitted) {
        running.push({ unit: one, end: second + (one.id === "queue" ? QUEUE_TASK : POOL_TASK) });
      }
    }
    throw new Error("it starves");
  }

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
    "starts after the bound, as soon as the pool is gathered and one holder of the queue ends (first after %i s)",
    (queueFreeAt) => {
      const most = (bound: number): number => bound + POOL_TASK + QUEUE_TASK;
      expect(secondsUntilStart(queueFreeAt, BYPASS)).toBeLessThanOrEqual(most(60));
      // One unit overtakes it every two seconds.
      const often = { passes: 100, ms: Number.POSITIVE_INFINITY };
      expect(secondsUntilStart(queueFreeAt, often)).toBeLessThanOrEqual(most(200));
    },
  );
});
