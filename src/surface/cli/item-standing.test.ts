import { describe, expect, test } from "vitest";
import type { RunView, StepView } from "../../api/run-view.ts";
import { sayLeft, sayStanding, standingOf } from "./item-standing.ts";

const NOW = 100_000;
const RUN = { state: "started", paused: false, rerunOf: null } as RunView;
const COUNTS = {
  total: 20,
  created: 20,
  waiting: 13,
  running: 3,
  succeeded: 3,
  failed: 1,
  cancelled: 0,
  since: NOW - 4_000,
  until: NOW - 100,
};

const standing = (counts: Partial<typeof COUNTS> = {}, run: Partial<RunView> = {}, result?: unknown) =>
  standingOf({ items: { ...COUNTS, ...counts }, result } as unknown as StepView, { ...RUN, ...run }, NOW);

const left = (...given: Parameters<typeof standing>) => sayLeft(standing(...given) as never);

describe("how a step over a list stands", () => {
  test("is how many are done, in flight, waiting and failed, and how long the rest may take", () => {
    expect(sayStanding(standing() as never)).toBe(
      "██░░░░░░░░ 4/20 done, 3 in flight, 13 waiting, 1 failed, about 16s left",
    );
    expect(standingOf({} as StepView, RUN, NOW)).toBeUndefined();
  });

  test("those that were not created yet wait like the others", () => {
    expect(standing({ total: 100, created: 20 })).toMatchObject({ done: 4, waiting: 93 });
    expect(left({ total: 100, created: 20 })).toBe("1m36s");
  });

  test("an estimate of hours has no seconds", () => {
    expect(left({ total: 30_000 })).toBe("8h20m");
  });

  test("those that a rerun took over are done, and tell nothing of its pace", () => {
    const again = { waiting: 3, running: 2, succeeded: 1, failed: 0 };
    expect(standing(again, { rerunOf: "01k" })).toMatchObject({ done: 15, waiting: 3 });
    expect(left(again, { rerunOf: "01k" })).toBe("20s");
  });

  test.each<[string, Parameters<typeof standing>]>([
    ["none is done", [{ succeeded: 0, failed: 0 }]],
    ["none has begun", [{ succeeded: 0, failed: 0, since: null as never }]],
    ["those that are done were cancelled", [{ succeeded: 0, failed: 0, cancelled: 2 }]],
    ["none is left", [{ waiting: 0, running: 0 }]],
    ["the run is paused", [{}, { paused: true }]],
    ["the run is over", [{}, { state: "cancelled" }]],
  ])("nothing is said of the time that is left while %s", (_, given) => {
    expect(left(...given)).toBeUndefined();
  });

  test("once it has ended, it is what its items came to", () => {
    const result = ["succeeded", "failed", "cancelled"].map((state) => ({ state }));
    expect(standing({}, {}, result)).toEqual({
      total: 3,
      done: 2,
      inFlight: 0,
      waiting: 0,
      failed: 1,
      cancelled: 1,
      leftMs: undefined,
    });
    expect(sayStanding(standing({}, {}, []) as never)).toBe("██████████ 0/0 done");
  });
});
