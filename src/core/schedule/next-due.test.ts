import { describe, expect, test } from "vitest";
import { nextDue } from "./next-due.ts";

const DAY = 86_400_000;
const NOON = Date.UTC(2026, 0, 1, 12);
const daily = { cron: "0 3 * * *", timezone: "UTC", catchUp: "last", overlap: "allow" } as const;

describe("the next run of a schedule", () => {
  test("is at its next fire time, although nobody has looked at it since it was declared", () => {
    expect(nextDue(daily, NOON, NOON)).toBe(NOON + 15 * 3_600_000);
    expect(nextDue({ ...daily, timezone: "Europe/Berlin" }, NOON, NOON)).toBe(NOON + 14 * 3_600_000);
  });

  test("is due already if a fire time was missed, unless missed ones are skipped", () => {
    const missed = NOON - 9 * 3_600_000;
    expect(nextDue(daily, NOON - DAY, NOON)).toBe(missed);
    expect(nextDue({ ...daily, catchUp: "all" }, NOON - 2 * DAY, NOON)).toBe(missed - DAY);
    expect(nextDue({ ...daily, catchUp: "skip" }, NOON - DAY, NOON)).toBe(missed + DAY);
  });

  test("is due at its instant, and there is none if it never fires", () => {
    expect(nextDue({ ...daily, cron: "0 12 * * *" }, NOON, NOON)).toBe(NOON);
    expect(nextDue({ ...daily, cron: "0 3 30 2 *" }, NOON, NOON)).toBeNull();
  });
});
