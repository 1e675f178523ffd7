import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { retryPolicy } from "../task/retry.ts";
import type { GraphEach, GraphStep, Items } from "../workflow/graph.ts";
import type { Json, Template, Values } from "../workflow/template.ts";
import { literal, NOTHING, reference } from "../workflow/template.ts";
import type { ItemOutcome } from "./fan-out.ts";
import { aggregate, itemInput, itemsOf, resultsOf, stepsOfEach, windowOf } from "./fan-out.ts";

const from = (step: string, ...path: string[]): Template => reference({ step, path });
const ITEM = reference({ item: "value", path: [] });
const INDEX = reference({ item: "index", path: [] });

function sync(each: Partial<GraphEach>, input: Template = ITEM): GraphStep {
  return {
    name: "sync",
    task: "work",
    queue: "default",
    priority: null,
    input,
    each: { items: { list: [] }, concurrency: null, onFailure: "run-all", ...each },
    needs: [],
    when: null,
    asks: [],
    gate: "async",
    retry: retryPolicy(undefined),
    timeoutMs: null,
    mayFail: false,
    pod: null,
  };
}

const outputs: Record<string, Json> = {
  users: [{ id: "a" }, { id: "b" }, null],
  ages: [1, 2, 3],
  pair: [1, 2],
  byName: { ann: 1, bob: [2] },
  window: 4,
  text: "abc",
};
const values: Values = { input: { day: "monday" }, output: (step) => outputs[step] ?? null };

const items = (given: Items) => itemsOf(sync({ items: given }), values);
const badItems = (message: string) =>
  expect.objectContaining({ code: "BAD_ITEMS", message: `step "sync": ${message}.` });

describe("the items of a step", () => {
  test.each<[string, Items, Json]>([
    ["an earlier output", { list: from("users") }, [{ id: "a" }, { id: "b" }, null]],
    ["a list that holds some", { list: [from("window"), { of: from("text") }, 3] }, [4, { of: "abc" }, 3]],
    ["a list that holds what is not there", { list: [from("nobody"), from("users", "9")] }, [null, null]],
    ["no list at all, if it is empty", { list: [] }, []],
    [
      "several lists together",
      { zip: [from("users"), from("ages"), ["x", "y", "z"]] },
      [
        [{ id: "a" }, 1, "x"],
        [{ id: "b" }, 2, "y"],
        [null, 3, "z"],
      ],
    ],
    ["one list alone in a zip", { zip: [from("pair")] }, [[1], [2]]],
    ["empty lists together", { zip: [[], []] }, []],
    [
      "an object by its fields",
      { entries: from("byName") },
      [
        { key: "ann", value: 1 },
        { key: "bob", value: [2] },
      ],
    ],
    ["an object as it is written", { entries: { a: from("window") } }, [{ key: "a", value: 4 }]],
    ["an empty object", { entries: {} }, []],
  ])("come from %s", (_, given, expected) => {
    expect(items(given)).toEqual(expected);
  });

  test.each<[string, Items, string]>([
    ["null", { list: from("nobody") }, "its items must be a list, but got null"],
    ["a number", { list: from("window") }, "its items must be a list, but got a number: 4"],
    ["a text", { list: from("text") }, 'its items must be a list, but got a string: "abc"'],
    ["a boolean", { list: true }, "its items must be a list, but got a boolean: true"],
    [
      "an object",
      { list: from("byName") },
      'its items must be a list, but got an object: {"ann":1,"bob":[2]}',
    ],
    ["nothing at all", { list: NOTHING }, "its items must be a list, but got null"],
    [
      "something else in a zip",
      { zip: [from("users"), from("window")] },
      "list 2 of its items must be a list, but got a number: 4",
    ],
    [
      "lists of several lengths",
      { zip: [from("users"), from("ages"), from("pair")] },
      "lists in zip(…) must have the same length, but have 3, 3, 2",
    ],
    ["a list by its fields", { entries: from("pair") }, "its items must be an object, but got a list: [1,2]"],
    ["null by its fields", { entries: from("nobody") }, "its items must be an object, but got null"],
    [
      "a text by its fields",
      { entries: from("text") },
      'its items must be an object, but got a string: "abc"',
    ],
  ])("cannot be %s, and it says what came", (_, given, message) => {
    expect(() => items(given)).toThrow(badItems(message));
  });

  test("are shown in part where what came is long", () => {
    const long = { list: literal("x".repeat(500)) };
    expect(() => items(long)).toThrow(
      badItems(`its items must be a list, but got a string: "${"x".repeat(78)}…`),
    );
  });

  test("are those of a list of any JSON, in its order", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 8 }), (list) => {
        const written = literal(list as Json) as readonly Template[];
        expect(items({ list: written })).toEqual(list);
        const pairs = items({ zip: [written, list.map((_, index) => index)] });
        expect(pairs).toEqual(list.map((each, index) => [each, index]));
      }),
    );
  });
});

describe("the window", () => {
  const window = (concurrency: Template | null) => windowOf(sync({ concurrency }), values);

  test("is a number, what is referred to, or none", () => {
    expect(window(1)).toBe(1);
    expect(window(from("window"))).toBe(4);
    expect(window(null)).toBe(-1);
    expect(windowOf({ ...sync({}), each: null }, values)).toBe(-1);
  });

  test.each<[string, Template]>([
    ["a number: 0", 0],
    ["a number: -1", -1],
    ["a number: 1.5", 1.5],
    ["a number: 9007199254740992", 2 ** 53],
    ['a string: "abc"', from("text")],
    ["a boolean: true", true],
    ["a list: [1,2]", from("pair")],
    ["an object: {}", {}],
    // A referenced value must exist. Otherwise there would be no limit, and nobody would notice.
    ["null", from("nobody")],
  ])("cannot be %s", (came, concurrency) => {
    expect(() => window(concurrency)).toThrow(
      badItems(`its concurrency must be a whole number of 1 or more, but is ${came}`),
    );
  });
});

describe("an item is given", () => {
  const given = (input: Template, value: Json = { id: "a" }, index = 3) =>
    itemInput(sync({}, input), values, value, index);

  test("itself", () => {
    expect(given(ITEM)).toEqual({ id: "a" });
    expect(given(ITEM, null)).toBeNull();
  });

  test("what is made of it, of its place, of what others gave and of the run's input", () => {
    const day = reference({ input: true, path: ["day"] });
    const input = { id: reference({ item: "value", path: ["id"] }), at: INDEX, day, age: from("ages", "1") };
    expect(given(input)).toEqual({ id: "a", at: 3, day: "monday", age: 2 });
    expect(given(input, "text", 0)).toEqual({ at: 0, day: "monday", age: 2 });
  });

  test("nothing, where its task takes nothing", () => {
    expect(given(NOTHING)).toBeUndefined();
  });
});

test("a step names all that must be read before its items are known", () => {
  const each = { items: { zip: [from("a"), [from("b")]] }, concurrency: from("c") };
  const named = stepsOfEach(sync(each, [ITEM, from("d")]));
  expect(named.sort()).toEqual(["a", "b", "c", "d"]);
  expect(stepsOfEach(sync({ items: { entries: from("e") } }))).toEqual(["e"]);
  expect(stepsOfEach({ ...sync({}, from("d")), each: null })).toEqual(["d"]);
});

const outcome = fc.oneof(
  fc.record({ state: fc.constant("succeeded" as const), result: fc.jsonValue() as fc.Arbitrary<Json> }),
  fc.record({
    state: fc.constantFrom("failed" as const, "cancelled" as const),
    error: fc.constantFrom<Json>(null, { name: "Error", message: "no" }),
  }),
);

describe("a step over a list", () => {
  test("without items has succeeded, with nothing", () => {
    expect(aggregate([])).toEqual({ state: "succeeded", failed: 0 });
    expect(resultsOf([])).toEqual([]);
  });

  test("has failed by any item that did not succeed, whichever it was", () => {
    fc.assert(
      fc.property(fc.array(outcome), (outcomes) => {
        const failed = outcomes.filter(({ state }) => state !== "succeeded").length;
        expect(aggregate(outcomes)).toEqual({ state: failed > 0 ? "failed" : "succeeded", failed });
        expect(aggregate([...outcomes].reverse())).toEqual(aggregate(outcomes));
      }),
    );
  });

  test("gives results in the order of its items, null for those without", () => {
    fc.assert(
      fc.property(fc.array(outcome), (outcomes) => {
        const results = resultsOf(outcomes as Json) as readonly Json[];
        expect(results).toEqual(outcomes.map((each: ItemOutcome) => ("result" in each ? each.result : null)));
      }),
    );
    const mixed: ItemOutcome[] = [
      { state: "succeeded", result: 1 },
      { state: "failed", error: { message: "no" } },
      { state: "cancelled", error: null },
      { state: "succeeded", result: [2] },
    ];
    expect(resultsOf(mixed)).toEqual([1, null, null, [2]]);
  });

  test("that has no outcomes gives nothing", () => {
    for (const none of [null, "text", { state: "failed" }] as Json[]) expect(resultsOf(none)).toBeNull();
  });
});
