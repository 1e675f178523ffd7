import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Condition } from "./condition.ts";
import { holds, stepsIn } from "./condition.ts";
import type { Json, Values } from "./template.ts";
import { literal, reference } from "./template.ts";

const values: Values = { input: null, output: (step) => ({ five: 5, list: [], text: "b" })[step] ?? null };
const of = (step: string) => reference({ step, path: [] });
const isTrue = (value: Json): Condition => ({ is: "true", value: literal(value) });
const yes = isTrue(true);
const no = isTrue(false);

describe("a condition", () => {
  it.each<[Json, boolean]>([
    [1, true],
    ["a", true],
    [{}, true],
    [[0], true],
    [0, false],
    ["", false],
    [null, false],
    [false, false],
    [[], false],
  ])("on %j alone is %s", (value, expected) => {
    expect(holds(isTrue(value), values)).toBe(expected);
  });

  it("orders numbers by size and texts by letters, and nothing else", () => {
    const compare = (is: "less" | "greater", left: Json, right: Json) => holds({ is, left, right }, values);
    expect(compare("less", of("five"), 10)).toBe(true);
    expect(compare("greater", of("five"), 5)).toBe(false);
    expect(compare("greater", of("text"), "a")).toBe(true);
    for (const other of ["10", null, [], {}, true]) {
      expect(compare("less", of("five"), other)).toBe(false);
      expect(compare("greater", of("five"), other)).toBe(false);
    }
  });

  it("finds equal what is written the same, in whatever order its fields are", () => {
    const equal = (left: Json, right: Json) =>
      holds({ is: "equal", left: literal(left), right: literal(right) }, values);
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const other = JSON.parse(JSON.stringify(value)) as Json;
        expect(equal(value as Json, other)).toBe(true);
        expect(equal([other], other)).toBe(false);
      }),
    );
    expect(equal({ a: 1, b: [2] }, { b: [2], a: 1 })).toBe(true);
    expect(equal({ a: 1 }, { b: 1 })).toBe(false);
    expect(equal([], {})).toBe(false);
    expect(equal(1, "1")).toBe(false);
  });

  it("joins others", () => {
    expect(holds({ is: "all", conditions: [yes, no] }, values)).toBe(false);
    expect(holds({ is: "all", conditions: [] }, values)).toBe(true);
    expect(holds({ is: "any", conditions: [no, yes] }, values)).toBe(true);
    expect(holds({ is: "any", conditions: [] }, values)).toBe(false);
    expect(holds({ is: "not", condition: no }, values)).toBe(true);
  });

  it("names the steps it looks at", () => {
    const deep: Condition = {
      is: "any",
      conditions: [
        { is: "not", condition: { is: "less", left: of("a"), right: of("b") } },
        { is: "true", value: of("c") },
      ],
    };
    expect(stepsIn(deep)).toEqual(["a", "b", "c"]);
  });
});
