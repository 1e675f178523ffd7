import { expect, test } from "vitest";
import { sayMissed } from "./schedules.ts";

test("no number of missed fire times is told that was not counted", () => {
  expect(sayMissed(7)).toBe("7 missed");
  expect(sayMissed(100)).toBe("100 missed");
  expect(sayMissed(101)).toBe("more than 100 missed");
});
