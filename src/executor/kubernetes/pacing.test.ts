import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pauseAfter, persist } from "./pacing.ts";
import { ApiAway, ApiRefused } from "./request.ts";

const pacing = { firstMs: 100, mostMs: 5_000 };

test("pauses double up to the longest, and are spread over their upper half", () => {
  expect([1, 2, 3, 9].map((failures) => pauseAfter(failures, pacing, 1))).toEqual([100, 200, 400, 5_000]);
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1e9 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (failures, random) => {
        const longest = pauseAfter(failures, pacing, 1);
        const pause = pauseAfter(failures, pacing, random);
        expect(pause).toBeGreaterThanOrEqual(longest / 2);
        expect(pause).toBeLessThanOrEqual(longest);
      },
    ),
  );
});

describe("asking again", () => {
  const quick = { firstMs: 0, mostMs: 0 };
  const failing = (times: number, error: Error) => {
    let calls = 0;
    return async () => {
      calls += 1;
      if (calls <= times) throw error;
      return calls;
    };
  };

  test("goes on while there is no answer, and tells each time", async () => {
    const told: number[] = [];
    const away = (_: unknown, failures: number) => told.push(failures);
    const { signal } = new AbortController();
    expect(await persist(failing(3, new ApiAway("x")), { pacing: quick, signal, away })).toBe(4);
    expect(told).toEqual([1, 2, 3]);
  });

  test("ends with a refusal", async () => {
    const { signal } = new AbortController();
    const refusal = new ApiRefused(403, "no");
    await expect(persist(failing(1, refusal), { pacing: quick, signal, away: () => {} })).rejects.toBe(
      refusal,
    );
  });

  test("ends with the reason of its signal, also in a pause", async () => {
    const controller = new AbortController();
    const away = () => controller.abort(new Error("enough"));
    const slow = { firstMs: 1e6, mostMs: 1e6 };
    const asking = persist(failing(9, new ApiAway("x")), { pacing: slow, signal: controller.signal, away });
    await expect(asking).rejects.toThrow("enough");
  });
});
