import { expect, test } from "vitest";
import { storedError } from "./stored-error.ts";

test("a thrown plain object can be read", () => {
  expect(storedError({ status: 502, reason: "busy" })).toEqual({
    name: "Error",
    message: '{"status":502,"reason":"busy"}',
  });
  expect(storedError({ message: "gone", code: "E_GONE", name: "Gone" })).toEqual({
    name: "Gone",
    message: "gone",
    code: "E_GONE",
  });
});

test("nothing at all can be thrown", () => {
  expect(storedError(undefined).message).toBe("undefined was thrown");
  expect(storedError(null).message).toBe("null was thrown");
});

test("what led to an error is kept with it, and so are the errors that it gathers", () => {
  const error = new AggregateError([new Error("one"), "two", { three: 3 }], "all of them", {
    cause: new Error("first", { cause: "before" }),
  });
  expect(storedError(error)).toMatchObject({
    name: "AggregateError",
    message: "all of them",
    cause: { message: "first", cause: { message: "before" } },
    errors: [{ message: "one" }, { message: "two" }, { message: '{"three":3}' }],
  });
});

test("a cause that leads to itself ends somewhere", () => {
  const error = new Error("round");
  error.cause = error;
  expect(JSON.stringify(storedError(error)).match(/"round"/g)?.length).toBeLessThan(10);
});

test("an error whose parts throw, or are no texts, is stored all the same", () => {
  const trap = {
    get message(): never {
      throw new Error("no");
    },
    code: 7,
    stack: 9,
  };
  expect(storedError(trap).message).toContain("could not be read");
  expect(storedError(new Error("x".repeat(1_000_000))).message.length).toBeLessThan(30_000);
});
