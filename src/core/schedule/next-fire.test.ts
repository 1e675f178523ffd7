import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isoTime } from "../time.ts";
import { parseCron } from "./cron.ts";
import { nextFire } from "./next-fire.ts";
import { localOf } from "./zone.ts";

const BERLIN = "Europe/Berlin";

/** The next fire times after an instant. */
function fires(cron: string, zone: string, after: string, count: number): string[] {
  const found: string[] = [];
  let at: number | null = Date.parse(after);
  while (found.length < count) {
    at = nextFire(parseCron(cron), zone, at);
    if (at === null) break;
    found.push(isoTime(at));
  }
  return found;
}

describe("the next fire time", () => {
  test("is after the instant, never at it", () => {
    expect(fires("0 3 * * *", "UTC", "2026-01-01T03:00:00Z", 2)).toEqual([
      "2026-01-02T03:00:00Z",
      "2026-01-03T03:00:00Z",
    ]);
    expect(fires("0 3 * * *", "UTC", "2026-01-01T02:59:59.999Z", 1)).toEqual(["2026-01-01T03:00:00Z"]);
  });

  test("follows the clock of its zone through the year", () => {
    expect(fires("0 3 * * *", BERLIN, "2026-01-15T12:00:00Z", 1)).toEqual(["2026-01-16T02:00:00Z"]);
    expect(fires("0 3 * * *", BERLIN, "2026-07-15T12:00:00Z", 1)).toEqual(["2026-07-16T01:00:00Z"]);
  });

  test("comes on either day when both days are restricted", () => {
    expect(fires("0 0 13 * fri", "UTC", "2026-03-01T00:00:00Z", 4)).toEqual([
      "2026-03-06T00:00:00Z",
      "2026-03-13T00:00:00Z",
      "2026-03-20T00:00:00Z",
      "2026-03-27T00:00:00Z",
    ]);
  });

  test("knows leap years and the ends of months", () => {
    expect(fires("0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", 2)).toEqual([
      "2028-02-29T00:00:00Z",
      "2032-02-29T00:00:00Z",
    ]);
    expect(fires("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", 1)).toEqual(["2104-02-29T00:00:00Z"]);
    expect(fires("0 0 L * *", "UTC", "2026-01-31T00:00:00Z", 2)).toEqual([
      "2026-02-28T00:00:00Z",
      "2026-03-31T00:00:00Z",
    ]);
  });

  test("does not exist for a day that never comes", () => {
    expect(fires("0 0 30 2 *", "UTC", "2026-01-01T00:00:00Z", 1)).toEqual([]);
  });
});

describe("when the clock is put forward", () => {
  test("a fixed time that it passes over fires at that moment", () => {
    expect(fires("30 2 * * *", BERLIN, "2026-03-28T12:00:00Z", 2)).toEqual([
      "2026-03-29T01:00:00Z",
      "2026-03-30T00:30:00Z",
    ]);
  });

  test("two fixed times that it passes over fire once", () => {
    expect(fires("10,50 2 * * *", BERLIN, "2026-03-28T12:00:00Z", 2)).toEqual([
      "2026-03-29T01:00:00Z",
      "2026-03-30T00:10:00Z",
    ]);
  });

  test("what fires every so often goes on by real time", () => {
    expect(fires("*/30 * * * *", BERLIN, "2026-03-29T00:10:00Z", 3)).toEqual([
      "2026-03-29T00:30:00Z",
      "2026-03-29T01:00:00Z",
      "2026-03-29T01:30:00Z",
    ]);
  });

  test("at midnight, the day is not lost", () => {
    expect(fires("0 0 * * *", "Africa/Cairo", "2026-04-23T12:00:00Z", 2)).toEqual([
      "2026-04-23T22:00:00Z",
      "2026-04-24T21:00:00Z",
    ]);
  });
});

describe("when the clock is put back", () => {
  test("a fixed time that it shows twice fires the first time only", () => {
    expect(fires("30 2 * * *", BERLIN, "2026-10-24T12:00:00Z", 2)).toEqual([
      "2026-10-25T00:30:00Z",
      "2026-10-26T01:30:00Z",
    ]);
    expect(fires("30 2 * * *", BERLIN, "2026-10-25T01:10:00Z", 1)).toEqual(["2026-10-26T01:30:00Z"]);
  });

  test("what fires every so often goes on through the repeated hour", () => {
    expect(fires("*/30 * * * *", BERLIN, "2026-10-25T00:10:00Z", 4)).toEqual([
      "2026-10-25T00:30:00Z",
      "2026-10-25T01:00:00Z",
      "2026-10-25T01:30:00Z",
      "2026-10-25T02:00:00Z",
    ]);
  });

  test("by half an hour, too", () => {
    expect(fires("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T12:00:00Z", 2)).toEqual([
      "2026-04-04T14:45:00Z",
      "2026-04-05T15:15:00Z",
    ]);
  });
});

const zones = ["UTC", BERLIN, "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Kolkata"];
const instants = fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2028, 0) });
const crons = fc
  .tuple(
    fc.constantFrom("0", "*", "*/7", "30", "15,45"),
    fc.constantFrom("*", "*/3", "0", "2", "1-3"),
    fc.constantFrom("*", "1", "31", "L"),
    fc.constantFrom("*", "3,10"),
    fc.constantFrom("*", "sun", "1-5"),
  )
  .map((fields) => fields.join(" "));

describe("for any expression, zone and instant", () => {
  test("fire times grow, and no fire time lies between an instant and the next one", () => {
    fc.assert(
      fc.property(
        crons,
        fc.constantFrom(...zones),
        instants,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (text, zone, after, part) => {
          const cron = parseCron(text);
          const next = nextFire(cron, zone, after);
          if (next === null) return;
          expect(next).toBeGreaterThan(after);
          const between = after + Math.floor((next - 1 - after) * part);
          expect(nextFire(cron, zone, between)).toBe(next);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("every minute whose clock is named fires, when it goes by real time", () => {
    const every = crons.filter((text) => parseCron(text).interval);
    fc.assert(
      fc.property(every, fc.constantFrom(...zones), instants, (text, zone, at) => {
        const cron = parseCron(text);
        const minute = Math.floor(at / 60_000) * 60_000;
        const local = Math.floor(localOf(zone, minute) / 60_000);
        const [inHour, hour] = [((local % 60) + 60) % 60, Math.floor(local / 60) % 24];
        const isTime = cron.minutes.includes(inHour) && cron.hours.includes(hour);
        if (nextFire(cron, zone, minute - 1) === minute) expect(isTime).toBe(true);
        else if (isTime && text.endsWith("* * *")) expect.fail(`${text} leaves out ${isoTime(minute)}`);
      }),
      { numRuns: 500 },
    );
  });
});
