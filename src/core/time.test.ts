import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatDuration, isoTime, parseDuration, sayDuration } from "./time.ts";

describe("a duration", () => {
  it.each([
    ["0ms", 0],
    ["250ms", 250],
    ["30s", 30_000],
    ["5m", 300_000],
    ["1h30m", 5_400_000],
    ["2d", 172_800_000],
    ["1d2h3m4s5ms", 93_784_005],
    ["1.5s", 1500],
    ["1.005s", 1005],
    ["90m", 5_400_000],
  ])("%s is %d ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    "",
    "s",
    "5 m",
    " 5m",
    "5M",
    "30m1h",
    "1s1s",
    "-5s",
    "+5s",
    "1.s",
    ".5s",
    "1w",
    "1e3s",
    "five",
    "5mm",
  ])("%j is refused with what it should look like", (text) => {
    expect(() => parseDuration(text)).toThrow(
      expect.objectContaining({
        code: "BAD_DURATION",
        message: expect.stringContaining('is not a duration: write it like "30s"'),
      }),
    );
  });

  it("without a unit is refused, as text and as a number", () => {
    const message = (value: unknown) =>
      `duration ${JSON.stringify(value)} has no unit: write "30s" or "30ms"`;
    expect(() => parseDuration("30")).toThrow(message("30"));
    expect(() => parseDuration(30 as unknown as string)).toThrow(message(30));
  });

  it("that is not text at all is refused by the same code", () => {
    for (const value of [undefined, null, {}, Number.NaN])
      expect(() => parseDuration(value as unknown as string)).toThrow(
        expect.objectContaining({ code: "BAD_DURATION" }),
      );
  });

  it("finer than a millisecond, or too long to count, is refused", () => {
    expect(() => parseDuration("0.5ms")).toThrow("finer than a millisecond");
    expect(() => parseDuration("999999999999d")).toThrow("too long");
  });

  it.each([
    [0, "0ms"],
    [850, "850ms"],
    [31_000, "31s"],
    [252_000, "4m12s"],
    [5_400_000, "1h30m"],
    [90_000_000, "1d1h"],
    [-31_000, "-31s"],
  ])("of %d ms is written %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it("reads back as the milliseconds it was written from", () => {
    fc.assert(
      fc.property(fc.nat({ max: Number.MAX_SAFE_INTEGER }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms);
      }),
    );
  });

  it("is said without milliseconds from one second on, and never as less than nothing", () => {
    expect(sayDuration(252_987)).toBe("4m12s");
    expect(sayDuration(850)).toBe("850ms");
    expect(sayDuration(-5)).toBe("0ms");
  });
});

describe("an instant", () => {
  it("is written in UTC to the second", () => {
    expect(isoTime(Date.UTC(2026, 10, 16, 3))).toBe("2026-11-16T03:00:00Z");
    expect(isoTime(Date.UTC(2024, 1, 29, 23, 59, 59, 999))).toBe("2024-02-29T23:59:59Z");
  });

  it("agrees with the language from year 0 to 9999", () => {
    const from = Date.parse("0000-01-01T00:00:00Z");
    const to = Date.parse("9999-12-31T23:59:59Z");
    fc.assert(
      fc.property(fc.integer({ min: from, max: to }), (ms) => {
        expect(isoTime(ms)).toBe(`${new Date(ms).toISOString().slice(0, 19)}Z`);
      }),
      { numRuns: 2000 },
    );
  });
});
