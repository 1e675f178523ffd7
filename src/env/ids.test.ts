import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hostEnv } from "./host.ts";
import { Ids } from "./ids.ts";

const zeros = (): Uint8Array => new Uint8Array(8);
const ones = (): Uint8Array => new Uint8Array(8).fill(255);

describe("ids", () => {
  test("have one length and letters that sort as they count", () => {
    const ids = new Ids();
    const id = ids.next(Date.UTC(2026, 0, 1), zeros);
    expect(id).toMatch(/^[0-9a-hjkmnp-tv-z]{22}$/);
    expect(id.slice(10)).toBe("000000000000");
  });

  test("sort by time, and by the order they were made in, within a millisecond and when the clock goes back", () => {
    const step = fc.record({
      ms: fc.oneof(fc.constant(0), fc.integer({ min: -5_000, max: 5_000 })),
      random: fc.uint8Array({ minLength: 8, maxLength: 8 }),
    });
    const start = fc.integer({ min: 0, max: 2 ** 48 });
    fc.assert(
      fc.property(start, fc.array(step, { minLength: 2, maxLength: 50 }), (begin, steps) => {
        const ids = new Ids();
        let time = begin;
        const made = steps.map(({ ms, random }) => {
          time = Math.max(0, time + ms);
          return ids.next(time, () => random);
        });
        expect(made).toEqual([...made].sort());
        expect(new Set(made).size).toBe(made.length);
      }),
    );
  });

  test("of different processes sort by time alone", () => {
    fc.assert(
      fc.property(fc.nat(2 ** 47), fc.integer({ min: 1, max: 1_000_000 }), (time, later) => {
        const first = new Ids().next(time, ones);
        const second = new Ids().next(time + later, zeros);
        expect(first < second).toBe(true);
      }),
    );
  });

  test("do not run over, even from the largest random tail", () => {
    const ids = new Ids();
    const first = ids.next(7, ones);
    let last = first;
    for (let index = 0; index < 1_000; index += 1) last = ids.next(7, ones);
    expect(last > first).toBe(true);
    expect(last.slice(0, 10)).toBe(first.slice(0, 10));
  });

  test("of one millisecond differ between processes by chance", () => {
    const env = [hostEnv(), hostEnv()];
    const made = env.flatMap((each) => Array.from({ length: 1_000 }, () => each.newId()));
    expect(new Set(made).size).toBe(2_000);
  });
});
