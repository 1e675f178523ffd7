import { expect, test } from "vitest";
import { portionsOf } from "./portions.ts";

test("a list that fits is one portion, and of nothing there is none", () => {
  expect(portionsOf(["a", "b", "c"], 100)).toEqual([["a", "b", "c"]]);
  expect(portionsOf([], 100)).toEqual([]);
});

test("all are there, in their order, and no portion is larger than said", () => {
  const list = Array.from({ length: 50 }, (_, id) => ({ id, body: "x".repeat(id) }));
  const portions = portionsOf(list, 300);
  expect(portions.flat()).toEqual(list);
  expect(portions.length).toBeGreaterThan(5);
  for (const portion of portions)
    expect(portion.reduce((sum, { body }) => sum + body.length, 0)).toBeLessThan(300);
});

test("what is larger goes alone", () => {
  expect(portionsOf(["a", "b".repeat(500), "c", "d"], 100)).toEqual([["a"], ["b".repeat(500)], ["c", "d"]]);
});
