import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CatchUp } from "./due.ts";
import { dueTimes, MOST_AT_ONCE, ON_TIME_MS } from "./due.ts";

const MINUTE = 60_000;
/** Fires each minute. */
const each = (after: number): number => (Math.floor(after / MINUTE) + 1) * MINUTE;
/** Fires at these times. */
const at =
  (...times: readonly number[]) =>
  (after: number): number | null =>
    times.find((time) => time > after) ?? null;

describe("fire times", () => {
  test("that have not come are not due", () => {
    expect(dueTimes({ next: at(500), from: 100, now: 499, catchUp: "all" })).toEqual({
      times: [],
      missed: 0,
      nextAt: 500,
    });
  });

  test("are due at their instant, and once", () => {
    const due = dueTimes({ next: at(500, 900), from: 500, now: 500, catchUp: "last" });
    expect(due).toEqual({ times: [500], missed: 0, nextAt: 900 });
  });

  test("that were missed are all made up for, or the last, or none", () => {
    const now = 1_000_000;
    const missed = (catchUp: CatchUp) => dueTimes({ next: at(100, 200, 300), from: 0, now, catchUp });
    expect(missed("all")).toEqual({ times: [100, 200, 300], missed: 0, nextAt: null });
    expect(missed("last")).toEqual({ times: [300], missed: 2, nextAt: null });
    expect(missed("skip")).toEqual({ times: [], missed: 3, nextAt: null });
  });

  test("that are noticed within a minute were not missed", () => {
    const due = (now: number) => dueTimes({ next: at(100), from: 0, now, catchUp: "skip" }).times;
    expect(ON_TIME_MS).toBe(MINUTE);
    expect(due(100 + ON_TIME_MS)).toEqual([100]);
    expect(due(101 + ON_TIME_MS)).toEqual([]);
  });

  test("come a hundred at a time, and those behind them are next", () => {
    const due = dueTimes({ next: each, from: MINUTE, now: 250 * MINUTE, catchUp: "all" });
    expect(due.times).toHaveLength(MOST_AT_ONCE);
    expect(due.nextAt).toBe(101 * MINUTE);
    const rest = dueTimes({ next: each, from: 201 * MINUTE, now: 250 * MINUTE, catchUp: "all" });
    expect([rest.times.length, rest.nextAt]).toEqual([50, 251 * MINUTE]);
  });

  test("that are passed over are counted up to a hundred, and then are more", () => {
    const missed = (now: number, catchUp: CatchUp) =>
      dueTimes({ next: each, from: MINUTE, now, catchUp }).missed;
    expect(missed(101 * MINUTE, "last")).toBe(100);
    expect(missed(102 * MINUTE, "last")).toBe(101);
    expect(missed(203 * MINUTE, "last")).toBe(101);
  });

  test("of ten missed years cost no more than those of a day", () => {
    let asked = 0;
    const next = (after: number): number => {
      asked += 1;
      return each(after);
    };
    const now = Date.UTC(2026, 0);
    expect(dueTimes({ next, from: Date.UTC(2016, 0), now, catchUp: "last" }).times).toEqual([now]);
    expect(asked).toBeLessThan(250);
  });
});

describe("for any fire times and any looks", () => {
  const schedules = fc.uniqueArray(fc.integer({ min: 0, max: 5_000_000 }), { minLength: 1, maxLength: 300 });
  const looks = fc.uniqueArray(fc.integer({ min: 0, max: 6_000_000 }), { minLength: 1, maxLength: 30 });

  /**
   * Everything that is submitted if a worker looks at these times, each look starting where the last one
   * ended.
   */
  function play(unsorted: readonly number[], times: readonly number[], catchUp: CatchUp): number[] {
    const next = at(...[...unsorted].sort((a, b) => a - b));
    const submitted: number[] = [];
    let from: number | null = 0;
    for (const now of [...times].sort((a, b) => a - b)) {
      while (from !== null && from <= now) {
        const due = dueTimes({ next, from, now, catchUp });
        submitted.push(...due.times);
        from = due.nextAt;
      }
    }
    return submitted;
  }

  test("`all` submits each fire time once, in order", () => {
    fc.assert(
      fc.property(schedules, looks, (times, at) => {
        const past = times.filter((time) => time <= Math.max(...at)).sort((a, b) => a - b);
        expect(play(times, at, "all")).toEqual(past);
      }),
    );
  });

  test("`last` submits, for each look, the last fire time since the look before", () => {
    fc.assert(
      fc.property(schedules, looks, (times, at) => {
        const sorted = [...at].sort((a, b) => a - b);
        const expected = sorted.flatMap((now, index) => {
          const before = sorted[index - 1] ?? -1;
          const since = times.filter((time) => time > before && time <= now);
          return since.length === 0 ? [] : [Math.max(...since)];
        });
        expect(play(times, at, "last")).toEqual(expected);
      }),
    );
  });

  test("`skip` submits of these only what was noticed in time", () => {
    fc.assert(
      fc.property(schedules, looks, (times, at) => {
        const sorted = [...at].sort((a, b) => a - b);
        const expected = play(times, at, "last").filter((time) => {
          const noticed = sorted.find((now) => now >= time) as number;
          return noticed - time <= ON_TIME_MS;
        });
        expect(play(times, at, "skip")).toEqual(expected);
      }),
    );
  });
});
