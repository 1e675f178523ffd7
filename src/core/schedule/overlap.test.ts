import { describe, expect, test } from "vitest";
import { withoutOverlap } from "./overlap.ts";

const NONE = { queued: false, inProgress: false };
const QUEUED = { queued: true, inProgress: false };
const BUSY = { queued: false, inProgress: true };
const BOTH = { queued: true, inProgress: true };

describe("a schedule", () => {
  test("that allows overlap submits whatever is due", () => {
    for (const active of [NONE, QUEUED, BUSY, BOTH])
      expect(withoutOverlap("allow", active, [1, 2])).toEqual([1, 2]);
  });

  test("that skips submits only when no run of it is left, and then one", () => {
    expect(withoutOverlap("skip", NONE, [1, 2])).toEqual([1]);
    for (const active of [QUEUED, BUSY, BOTH]) expect(withoutOverlap("skip", active, [1, 2])).toEqual([]);
  });

  test("that queues one lets one run wait behind the one in progress", () => {
    expect(withoutOverlap("queue-one", NONE, [1, 2])).toEqual([1]);
    expect(withoutOverlap("queue-one", BUSY, [1, 2])).toEqual([1]);
    for (const active of [QUEUED, BOTH]) expect(withoutOverlap("queue-one", active, [1])).toEqual([]);
  });

  test("with nothing due submits nothing", () => {
    for (const overlap of ["allow", "skip", "queue-one"] as const)
      expect(withoutOverlap(overlap, NONE, [])).toEqual([]);
  });
});
