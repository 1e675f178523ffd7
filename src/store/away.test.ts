import { describe, expect, test } from "vitest";
import { inPlainWords, isAnswer, isAway, unreachable } from "./away.ts";
import type { SqlDatabase } from "./sql-database.ts";

describe("a store is away", () => {
  test.each([
    { code: "ECONNREFUSED" },
    { code: "57P03" },
    { code: "57P01" },
    { code: "08001" },
    { code: "08P01", severity: "FATAL", message: "server login has been failing" },
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
    { code: "08P01", severity: "ERROR", message: "bind message has 3 parameters" },
    { code: "28P01" },
    { message: "no such column" },
  ])("but not when it answers: %j", (error) => {
    expect(isAway(error)).toBe(false);
  });
});

describe("a missing right is a refusal of the store", () => {
  test.each([{ code: "42501" }, { code: "ER_TABLEACCESS_DENIED_ERROR", sqlState: "42000" }])(
    "%j",
    async (told) => {
      const transact = () => Promise.reject(Object.assign(new Error("permission denied"), told));
      const db = inPlainWords({ where: "postgres://half@host/db", transact } as unknown as SqlDatabase);
      await expect(db.transact(function* () {})).rejects.toMatchObject({ code: "STORE_REFUSED" });
    },
  );
});

describe("a store was reached", () => {
  test.each([
    { code: "42501" },
    { code: "3F000" },
    { code: "ER_TABLEACCESS_DENIED_ERROR", sqlState: "42000" },
    { code: "ER_DUP_FIELDNAME", sqlState: "42S21" },
    { code: "28P01" },
    { code: "28000" },
    { code: "3D000" },
    { code: "ER_ACCESS_DENIED_ERROR", sqlState: "28000" },
    { code: "ER_BAD_DB_ERROR", sqlState: "42000" },
    { code: "ER_HOST_NOT_PRIVILEGED", sqlState: "" },
    { code: "HANDSHAKE_NO_SSL_SUPPORT" },
    { message: "SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string" },
  ])("when it answers %j", (error) => {
    expect(isAnswer(error)).toBe(true);
  });

  test.each([
    { code: "EPIPE" },
    { code: "ECONNREFUSED" },
    { code: "57P03" },
    { code: "53300" },
    { code: "08006" },
    { code: "ER_CON_COUNT_ERROR", sqlState: "08004" },
    { code: "ER_SERVER_SHUTDOWN", sqlState: "08S01" },
    { message: "file is not a database" },
  ])("but not when nobody answered, or the answer was to come back later: %j", (error) => {
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
