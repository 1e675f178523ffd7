import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonText } from "./json.ts";
import { readableJson } from "./readable.ts";

const circle = (): unknown => {
  const one: { list?: unknown } = {};
  one.list = [one];
  return one;
};

const deep = (): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < 100_000; level += 1) value = [value];
  return value;
};

describe("a value that JSON would change is refused with its place:", () => {
  test.each([
    ["NaN", { items: [1, 2, 3, { price: Number.NaN }] }, "input.items[3].price: NaN"],
    ["Infinity", { n: Number.POSITIVE_INFINITY }, "input.n: Infinity"],
    ["a Map", { seen: new Map([[1, 2]]) }, "input.seen: a Map"],
    ["a Set", [new Set([1])], "input[0]: a Set"],
    ["a function", { next: () => 1 }, "input.next: a function"],
    ["a symbol", { kind: Symbol("x") }, "input.kind: a symbol"],
    ["undefined in a list", [1, undefined], "input[1]: undefined"],
    // biome-ignore lint/suspicious/noSparseArray: that is what it is about.
    ["a hole in a list", [1, , 3], "input[1]: undefined"],
    ["a BigInt", { "two words": 10n }, 'input["two words"]: a BigInt'],
    ["an invalid Date", { at: new Date(Number.NaN) }, "input.at: an invalid Date"],
    ["a Buffer", { body: Buffer.from("x") }, "input.body: binary data"],
    ["a typed array", new Float32Array(2), "input: binary data"],
    ["an Error", { error: new Error("x") }, "input.error: an Error"],
    ["a RegExp", { match: /x/ }, "input.match: a RegExp"],
    ["a Promise", { later: Promise.resolve(1) }, "input.later: a Promise"],
    ["what its toJSON makes of it", { odd: { toJSON: () => ({ n: Number.NaN }) } }, "input.odd.n: NaN"],
    ["a boxed NaN", { n: Object(Number.NaN) }, "input.n: NaN"],
    ["something that contains itself", circle(), "contains itself"],
    ["something without end", deep(), "nested too deeply"],
  ])("%s", (_, value, message) => {
    expect(() => jsonText(value, "input")).toThrow(message);
  });
});

test("as JSON does: what is undefined is left out, -0 is 0, a Date is its text, and so is what has a toJSON", () => {
  class Point {
    x = 1;
    y = 2;
  }
  const value = {
    nothing: undefined,
    zero: -0,
    at: new Date(0),
    page: new URL("http://a.example/"),
    point: new Point(),
  };
  expect(jsonText(value, "input")).toBe(
    '{"zero":0,"at":"1970-01-01T00:00:00.000Z","page":"http://a.example/","point":{"x":1,"y":2}}',
  );
  expect(jsonText(undefined, "input")).toBeUndefined();
});

test("whatever is not refused comes back as it was", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false } as never), (value) => {
      expect(jsonText(value, "input")).toBe(JSON.stringify(value));
    }),
  );
  fc.assert(
    fc.property(
      fc.anything({ withBigInt: true, withMap: true, withSet: true, withSparseArray: true }),
      (value) => {
        let text: string | undefined;
        try {
          text = jsonText(value, "input");
        } catch (error) {
          expect(error).toMatchObject({ code: "NOT_JSON", message: expect.stringMatching(/^input/) });
          return;
        }
        // Nothing is silently lost: no value becomes null, and no list changes its length.
        expect(text).toBe(JSON.stringify(value));
      },
    ),
  );
});

test("what is only looked at is told in words, whatever it is", () => {
  expect(
    JSON.parse(readableJson({ a: [1n, Number.NaN, new Map([["k", new Set([1])]])], f: () => 1 })),
  ).toEqual({
    a: ["1n", "NaN", { Map: [["k", { Set: [1] }]] }],
    f: "[function f]",
  });
  expect(JSON.parse(readableJson(circle()))).toEqual({ list: ["[circular]"] });
  const trap = {
    get it(): never {
      throw new Error("no");
    },
  };
  expect(readableJson(trap)).toContain("could not be read: no");
  fc.assert(
    fc.property(
      fc.anything({ withBigInt: true, withMap: true, withSet: true, withNullPrototype: true }),
      (value) => {
        JSON.parse(readableJson(value));
      },
    ),
  );
});
