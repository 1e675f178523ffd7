import fc from "fast-check";
import { expect, test } from "vitest";
import { countedWait } from "./claim-clock.ts";

const wait = (from: number, until: number, ...gates: string[]) => ({ from, until, gates });
const pause = (at: number) => ({ at, was: true, open: false });
const resume = (at: number) => ({ at, was: false, open: true });

test("time spent waiting for full gates counts", () => {
  expect(countedWait([wait(10, 30, "a"), wait(40, 45, "a", "b")], new Map())).toBe(25);
});

test("time in which one of the gates was paused does not", () => {
  const changes = new Map([["a", [pause(15), resume(25)]]]);
  expect(countedWait([wait(10, 30, "a")], changes)).toBe(10);
});

test("a gate that was closed before its first change was closed from the beginning", () => {
  expect(countedWait([wait(10, 30, "a")], new Map([["a", [resume(20)]]]))).toBe(10);
  expect(countedWait([wait(10, 30, "a")], new Map([["a", [{ at: 20, was: true, open: true }]]]))).toBe(20);
});

test("a gate that is still closed is closed until the end", () => {
  expect(countedWait([wait(10, 30, "a")], new Map([["a", [pause(12)]]]))).toBe(2);
});

test("two gates closed at the same time stop the clock once", () => {
  const changes = new Map([
    ["a", [pause(12), resume(20)]],
    ["b", [pause(15), resume(25)]],
  ]);
  expect(countedWait([wait(10, 30, "a", "b")], changes)).toBe(7);
});

test("it is what one gets by asking for every moment", () => {
  const spans = fc.array(fc.tuple(fc.nat(40), fc.nat(40)), { maxLength: 4 });
  fc.assert(
    fc.property(spans, fc.uniqueArray(fc.nat(40), { maxLength: 8 }), (pairs, switches) => {
      const waits = pairs.map(([a, b]) => wait(Math.min(a, b), Math.max(a, b), "a"));
      const sorted = [...switches].sort((a, b) => a - b);
      const changes = sorted.map((at, index) => (index % 2 === 0 ? pause(at) : resume(at)));
      const closedAt = (moment: number) => sorted.filter((at) => at <= moment).length % 2 === 1;
      let counted = 0;
      for (const { from, until } of waits)
        for (let moment = from; moment < until; moment += 1) if (!closedAt(moment)) counted += 1;
      expect(countedWait(waits, new Map([["a", changes]]))).toBe(counted);
    }),
  );
});
