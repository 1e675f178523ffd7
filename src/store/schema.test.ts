import { expect, test } from "vitest";
import { checkVersion, SCHEMA_VERSION } from "./schema.ts";

test("a store without tables is told from one with old tables, and both can be migrated", () => {
  const refusal = (message: string) =>
    expect.objectContaining({ code: "SCHEMA_MISSING", sentence: message, remedies: [{ action: "migrate" }] });
  expect(() => checkVersion(0)).toThrow(refusal("The store has no Sluice tables yet."));
  expect(() => checkVersion(1)).toThrow(
    refusal(`The store has schema 1, this version needs ${SCHEMA_VERSION}.`),
  );
  expect(() => checkVersion(SCHEMA_VERSION)).not.toThrow();
});
