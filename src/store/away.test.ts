import { describe, expect, test } from "vitest";
import { isAnswer, isAway, unreachable } from "./away.ts";

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

describe("a store was reached", () => {
  test.each([
    { code: "42501" },
    { code: "3F000" },
    { code: "ER_TABLEACCESS_DENIED_ERROR", sqlState: "42000" },
    { code: "ER_DUP_FIELDNAME", sqlState: "42S21" },
  ])("when it answers %j", (error) => {
    expect(isAnswer(error)).toBe(true);
  });

  test.each([
    { code: "EPIPE" },
    { code: "28P01" },
    { code: "3D000" },
    { code: "ER_ACCESS_DENIED_ERROR", sqlState: "28000" },
    { code: "ER_BAD_DB_ERROR", sqlState: "42000" },
    { code: "ECONNREFUSED" },
    { message: "file is not a database" },
  ])("but not when nobody was let in: %j", (error) => {
    expect(isAnswer(error)).toBe(false);
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
