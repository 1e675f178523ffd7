import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bytesOf, checkText, inByteOrder, isStorable, LONGEST_TEXT, shortly, textProblem } from "./text.ts";

/** Any sequence of code units, including half surrogate pairs. */
const units = fc.string({ unit: "binary", maxLength: 300 });
const halves = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 200 })
  .map((codes) => String.fromCharCode(...codes));
const anyText = fc.oneof(units, halves, fc.string(), fc.string({ unit: "grapheme" }));

describe("a text that names something", () => {
  test.each([
    ["nothing", "", "must not be empty"],
    ["a NUL", "a\0b", "the control character U+0000, at position 1"],
    ["a line break", "a\n", "the control character U+000A"],
    ["DEL", "\x7f", "the control character U+007F"],
    ["a control character of the second set", "\x85", "the control character U+0085"],
    ["half of a pair", "a\ud800", "half of a surrogate pair (U+D800)"],
    ["the other half", "\udfff", "half of a surrogate pair (U+DFFF)"],
    ["a line separator", "a\u2028", "the invisible character U+2028"],
    ["an override of direction", "a\u202eb", "the invisible character U+202E"],
    ["an isolate", "\u2066", "the invisible character U+2066"],
    ["a byte order mark", "\ufeffa", "the invisible character U+FEFF"],
    ["one byte too many", "x".repeat(LONGEST_TEXT + 1), "it has 192 bytes, and 191 are allowed"],
    ["too many bytes in few letters", "ж".repeat(96), "it has 192 bytes"],
    ["too many bytes in few signs", "😀".repeat(48), "it has 192 bytes"],
    ["a number", 7, "must be a string, but is 7"],
    ["an object", {}, "must be a string, but is an object"],
  ])("cannot be %s", (_, text, problem) => {
    expect(textProblem(text)).toContain(problem);
  });

  test.each([
    ["plain"],
    [" spaces at both ends "],
    ["ж".repeat(95)],
    ["😀".repeat(47)],
    ["a\u200db"],
    ["é"],
    ["e\u0301"],
  ])("can be %j", (text) => {
    expect(textProblem(text)).toBeUndefined();
  });

  test("is refused in one sentence that says what, and shows what cannot be seen", () => {
    expect(() => checkText("The key", "a\u202e\0")).toThrow(
      'The key must not contain the invisible character U+202E, at position 1. Got "a\\u202e\\u0000".',
    );
  });

  test("is well-formed, short enough and free of control characters, whatever it is", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        if (textProblem(text) !== undefined) return;
        expect(Buffer.from(text, "utf8").toString("utf8")).toBe(text);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LONGEST_TEXT);
        expect(text).not.toMatch(/\p{Cc}/u);
        expect(isStorable(text)).toBe(true);
      }),
    );
  });
});

test("bytes are counted as UTF-8 has them", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(bytesOf(text)).toBe(Buffer.byteLength(text));
    }),
  );
});

test("the order is that of bytes, and total", () => {
  const sign = (value: number): number => Math.sign(value);
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (a, b) => {
      expect(sign(inByteOrder(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
  // JavaScript orders these the other way round.
  expect(inByteOrder("\u{1f600}", "\uffff")).toBeGreaterThan(0);
});

test("a long text is shown short", () => {
  expect(shortly("x".repeat(100_000)).length).toBeLessThan(100);
});
