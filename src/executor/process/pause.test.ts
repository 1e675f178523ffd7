import { describe, expect, test } from "vitest";
import type { Death } from "./death.ts";
import { diedYoung, pauseAfter } from "./pause.ts";

const death = (more: Partial<Death>): Death => ({
  pid: 1,
  exitCode: 1,
  signal: null,
  lastWords: undefined,
  readyMs: undefined,
  jobsEnded: 0,
  killedFor: undefined,
  ...more,
});

describe("a child died young", () => {
  test("when it never became ready", () => {
    expect(diedYoung(death({ readyMs: undefined }))).toBe(true);
  });

  test("when it was ready for a moment and brought nothing to an end", () => {
    expect(diedYoung(death({ readyMs: 999 }))).toBe(true);
    expect(diedYoung(death({ readyMs: 1_000 }))).toBe(false);
  });

  test("but not when it had brought a job to an end", () => {
    expect(diedYoung(death({ readyMs: 5, jobsEnded: 1 }))).toBe(false);
  });
});

describe("the place of a dead child stays empty", () => {
  test("not at all after one that did its work, and after the first that died young", () => {
    expect(pauseAfter(0, 1)).toBe(0);
    expect(pauseAfter(1, 1)).toBe(0);
  });

  test("longer with each that died young, up to five seconds", () => {
    const longest = [2, 3, 4, 5, 6, 7, 8, 9, 50, 5_000].map((young) => pauseAfter(young, 1));
    expect(longest).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000, 5_000]);
  });

  test("by chance for half as long, so that many do not start together", () => {
    expect(pauseAfter(4, 0)).toBe(200);
    expect(pauseAfter(4, 0.5)).toBe(300);
  });
});
