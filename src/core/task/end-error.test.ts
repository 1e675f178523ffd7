import fc from "fast-check";
import { expect, test } from "vitest";
import { endError } from "./end-error.ts";

test("what failed keeps its own error", () => {
  const stored = { name: "TypeError", message: "no such card", code: "E_CARD", stack: "at charge" };
  expect(endError("failed", stored)).toEqual(stored);
});

test("an error without a name has one", () => {
  expect(endError("quarantined", { code: "QUARANTINED", message: "It killed three workers." })).toEqual({
    name: "Error",
    code: "QUARANTINED",
    message: "It killed three workers.",
  });
});

test.each([
  ["kim", "It was cancelled by kim."],
  ["run", "It was cancelled with its run."],
  ["onFailure", "It was cancelled because another item failed."],
])("what %s cancelled says so", (by, message) => {
  expect(endError("cancelled", { by })).toEqual({ name: "Error", code: "CANCELLED", message, by });
});

test("what expired without a word says that its deadline has passed", () => {
  expect(endError("expired", null)).toMatchObject({
    code: "EXPIRED",
    message: expect.stringContaining("deadline"),
  });
});

test("whatever is stored, there is a name and a message", () => {
  const states = fc.constantFrom("failed", "cancelled", "expired", "quarantined");
  fc.assert(
    fc.property(states, fc.jsonValue(), (state, body) => {
      const { name, message } = endError(state, body);
      expect(typeof name).toBe("string");
      expect(message).not.toBeUndefined();
      expect(typeof message).toBe("string");
    }),
  );
});
