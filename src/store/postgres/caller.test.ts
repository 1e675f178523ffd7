import { describe, expect, test } from "vitest";
import { callerOf, mustBeInTransaction } from "./caller.ts";

const query = (): void => {};
const refusedAs = (problem: string) => ({
  code: "BAD_OPTIONS",
  message: expect.stringContaining(problem),
});
const thrownBy = (call: () => unknown): unknown => {
  try {
    return call();
  } catch (error) {
    return error;
  }
};

describe("within refuses", () => {
  test.each([[7], [null], ["client"], [{}], [{ query: 1 }], [Symbol("client")]])(
    "%s, which is no client",
    (value) => {
      expect(thrownBy(() => callerOf(value))).toMatchObject(refusedAs("must be a client of pg"));
    },
  );

  test("a pool, which has many connections", () => {
    const pool = { query, totalCount: 0, idleCount: 0 };
    expect(thrownBy(() => callerOf(pool))).toMatchObject(refusedAs("is a pool"));
  });

  test("a client that has no open transaction, if pg can tell", () => {
    const client = (status: string | null) => callerOf({ query, getTransactionStatus: () => status });
    expect(thrownBy(() => mustBeInTransaction(client("I")))).toMatchObject(
      refusedAs("without an open transaction"),
    );
    for (const status of ["T", "E", null])
      expect(thrownBy(() => mustBeInTransaction(client(status)))).toBeUndefined();
    expect(thrownBy(() => mustBeInTransaction(callerOf({ query })))).toBeUndefined();
  });
});
