import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Place } from "./order.ts";
import { compare, inOrder } from "./order.ts";

const place = (id: string, rank: number, priority: number, at: number): Place => ({ id, rank, priority, at });

describe("the order of a line", () => {
  it("is rank (lower first), then priority (higher first), then time, then id", () => {
    const line = [
      place("e", 2, 9, 0),
      place("d", 1, 0, 7),
      place("c", 1, 0, 7),
      place("b", 1, 0, 3),
      place("a", 1, 5, 9),
    ];
    expect(inOrder(line).map(({ id }) => id)).toEqual(["a", "b", "c", "d", "e"]);
  });

  it("leaves the input as it was", () => {
    const line = [place("b", 1, 0, 0), place("a", 1, 0, 0)];
    inOrder(line);
    expect(line.map(({ id }) => id)).toEqual(["b", "a"]);
  });

  it("is total: two different units never tie, and each is either before or behind the other", () => {
    const some = fc.record({
      id: fc.constantFrom("a", "b", "c", "10", "9"),
      rank: fc.nat(2),
      priority: fc.integer({ min: -2, max: 2 }),
      at: fc.nat(2),
    });
    fc.assert(
      fc.property(some, some, some, (a, b, c) => {
        expect(Math.sign(compare(a, b))).toBe(0 - Math.sign(compare(b, a)));
        if (a.id !== b.id) expect(compare(a, b)).not.toBe(0);
        if (compare(a, b) < 0 && compare(b, c) < 0) expect(compare(a, c)).toBeLessThan(0);
      }),
    );
  });
});
