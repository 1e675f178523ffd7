import { describe, expect, test } from "vitest";
import { NonRetryable, nextDueOf, RetryAfter } from "./steering.ts";

describe("RetryAfter", () => {
  test("says how long, or at which instant, whatever the class it is made of", () => {
    expect(new RetryAfter("5m").retryAfter).toEqual({ inMs: 300_000 });
    expect(new RetryAfter(new Date(7_000)).retryAfter).toEqual({ at: 7_000 });
    expect(nextDueOf({ inMs: 5, more: 1 })).toEqual({ inMs: 5 });
  });

  test("has a message of its own only if it is given none", () => {
    // It may be the last attempt, so nothing is promised.
    expect(new RetryAfter("5m").message).toBe("The code has asked for an attempt 5m after this one.");
    expect(new RetryAfter(new Date(7_000)).message).toBe(
      "The code has asked for an attempt not before 1970-01-01T00:00:07.000Z.",
    );
    const cause = new Error("429");
    expect(new RetryAfter("5m", "busy", { cause })).toMatchObject({
      name: "RetryAfter",
      message: "busy",
      cause,
    });
  });

  test("refuses a time that is none", () => {
    expect(() => new RetryAfter("5")).toThrow(expect.objectContaining({ code: "BAD_DURATION" }));
    expect(() => new RetryAfter(new Date("soon"))).toThrow(expect.objectContaining({ code: "BAD_OPTIONS" }));
  });

  test.each([null, 5, "5", {}, { inMs: -1 }, { inMs: 1.5 }, { at: Number.NaN }, { inMs: "5" }])(
    "is not what other errors say in a field of that name: %j",
    (other) => expect(nextDueOf(other)).toBeUndefined(),
  );
});

test("NonRetryable has a message, a cause and its own name", () => {
  const cause = new Error("402");
  const error = new NonRetryable("no such card", { cause });
  expect(error).toMatchObject({ name: "NonRetryable", message: "no such card", cause, retryable: false });
  expect(new NonRetryable().message).not.toBe("");
});
