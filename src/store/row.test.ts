import { describe, expect, test } from "vitest";
import { DataError } from "./data-error.ts";
import type { Row } from "./row.ts";
import { decoded, flag, idOf, int, intOrNull, only, text, textOrNull, word, wordOrNull } from "./row.ts";

interface Unit {
  readonly id: string;
  readonly units: number;
  readonly goodUntil: number | null;
}

const unit = (row: Row): Unit => ({
  id: text(row.id),
  units: int(row.units),
  goodUntil: intOrNull(row.good_until),
});

const refusal = (rows: readonly Row[]): unknown => {
  try {
    return decoded(rows, unit);
  } catch (error) {
    return error;
  }
};

describe("a row", () => {
  test("is read column by column, each by its type", () => {
    const row = { a: "x", b: 7, c: 1, d: 0, e: null, f: null, g: "open", h: null };
    expect(
      decoded([row], ({ a, b, c, d, e, f, g, h }) => [
        text(a),
        int(b),
        flag(c),
        flag(d),
        textOrNull(e),
        intOrNull(f),
        word(g),
        wordOrNull(h),
      ]),
    ).toEqual([["x", 7, true, false, null, null, "open", null]]);
  });

  test("has sums as decimal text on some databases, or as its bytes, and they are numbers", () => {
    expect(decoded([{ id: "a", units: "12", good_until: Buffer.from("3") }], unit)).toEqual([
      { id: "a", units: 12, goodUntil: 3 },
    ]);
  });

  test.each([
    ["missing", { id: "b", good_until: null }, 'the column units of "b" is missing from an answer.'],
    ["null", { id: "b", units: null, good_until: null }, 'units of "b" should be a number and is null.'],
    ["empty", { id: "b", units: "", good_until: null }, 'units of "b" should be a number and is "".'],
    ["no number", { id: "b", units: "x", good_until: null }, 'units of "b" should be a number and is "x".'],
    ["no text", { id: 5, units: 1, good_until: null }, "the column id should be a text and is 5."],
    ["a nullable one, missing", { id: "b", units: 1 }, 'good_until of "b" is missing from an answer.'],
  ])("with a column that is %s is a data error that names column and row", (_, bad, message) => {
    const error = refusal([{ id: "a", units: 1, good_until: null }, bad]);
    expect(error).toBeInstanceOf(DataError);
    expect(String(error)).toContain(message);
  });

  test("whose decoder fails for another reason fails with that error", () => {
    const broken = (): never => {
      throw new RangeError("no such thing");
    };
    expect(() => decoded([{ id: "a" }], broken)).toThrow(RangeError);
  });

  test("that must be there is the first one, or a data error", () => {
    expect(only(decoded([{ id: "a" }], idOf))).toBe("a");
    expect(() => only([])).toThrow(DataError);
  });
});
