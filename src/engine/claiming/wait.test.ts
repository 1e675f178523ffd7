import { describe, expect, test } from "vitest";
import type { EventRow } from "../../store/store.ts";
import { waitsOf } from "./wait.ts";

describe("what a task waited for before", () => {
  const event = (
    n: number,
    at: number,
    gates: readonly string[],
    kind: EventRow["kind"] = "LaneWaiting",
  ): EventRow => ({
    subject: "lane",
    n,
    kind,
    at,
    data: JSON.stringify(gates),
  });

  test("is what its lane waited for, one after the other", () => {
    const events = [event(1, 10, ["queue:q"]), event(2, 30, ["pool:x", "queue:q"]), event(3, 50, [])];
    expect(waitsOf(events, 0, 100)).toEqual([
      { gates: ["queue:q"], fromMs: 10, forMs: 20 },
      { gates: ["pool:x", "queue:q"], fromMs: 30, forMs: 20 },
    ]);
  });

  test("is only the part that falls into its own wait", () => {
    const events = [event(1, 10, ["a"]), event(2, 30, ["b"]), event(3, 50, ["c"])];
    expect(waitsOf(events, 20, 40)).toEqual([
      { gates: ["a"], fromMs: 20, forMs: 10 },
      { gates: ["b"], fromMs: 30, forMs: 10 },
    ]);
    expect(waitsOf(events, 60, 70)).toEqual([{ gates: ["c"], fromMs: 60, forMs: 10 }]);
    expect(waitsOf(events, 30, 30)).toEqual([]);
    expect(waitsOf(events, 0, 5)).toEqual([]);
  });

  test("goes on to the end of its wait while nothing has changed", () => {
    expect(waitsOf([event(1, 10, ["a"])], 0, 90)).toEqual([{ gates: ["a"], fromMs: 10, forMs: 80 }]);
  });

  test("is told by the lane's waits alone", () => {
    const events = [event(1, 10, ["a"]), event(2, 20, ["x"], "LaneRestored"), event(3, 40, ["b"])];
    expect(waitsOf(events, 0, 50)).toEqual([
      { gates: ["a"], fromMs: 10, forMs: 30 },
      { gates: ["b"], fromMs: 40, forMs: 10 },
    ]);
    expect(waitsOf([{ ...event(1, 10, []), data: null }], 0, 50)).toEqual([]);
  });
});
