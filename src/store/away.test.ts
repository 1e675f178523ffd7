import { describe, expect, test } from "vitest";
import { isAway, unreachable } from "./away.ts";

describe("a store is away", () => {
  test.each([
    { code: "ECONNREFUSED" },
    { code: "57P03" },
    { code: "53300" },
    { code: "ENOTFOUND" },
    { code: "PROTOCOL_CONNECTION_LOST" },
    { code: "SQLITE_BUSY" },
    { message: "timeout exceeded when trying to connect" },
    { message: "Connection terminated due to connection timeout" },
    { message: "Can't add new command when connection is in closed state" },
  ])("when its driver says %j", (error) => {
    expect(isAway(error)).toBe(true);
  });

  test.each([
    { code: "22021" },
    { code: "ER_DATA_TOO_LONG" },
    { code: "40P01" },
    { message: "no such column" },
  ])("but not when it answers: %j", (error) => {
    expect(isAway(error)).toBe(false);
  });
});

test("it is named without its password, with the reason and not with the driver's word for a lost connection", () => {
  const cause = new Error("terminating connection due to administrator command");
  const lost = Object.assign(new Error("connection lost", { cause }), { code: "CONNECTION_LOST" });
  const error = unreachable("postgres://ann:secret@db/app", lost);
  expect(error).toMatchObject({
    code: "STORE_UNREACHABLE",
    message:
      "The store postgres://ann:***@db/app could not be reached: terminating connection due to administrator command",
    cause: lost,
  });
});
