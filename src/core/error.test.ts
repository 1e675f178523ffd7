import { describe, expect, it } from "vitest";
import { ConfigError, SluiceError } from "./error.ts";

describe("an error", () => {
  it("carries a code, details and its cause", () => {
    const cause = new Error("disk full");
    const error = new SluiceError("STORE_FULL", "the store cannot write", {
      details: { path: "a.db" },
      cause,
    });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: "SluiceError",
      code: "STORE_FULL",
      details: { path: "a.db" },
      cause,
    });
  });

  it("has no cause when none was given", () => {
    expect("cause" in new SluiceError("GONE", "it is gone")).toBe(false);
  });
});

describe("a configuration error", () => {
  const problems = [
    { field: "clusterCap", rule: "must be at least 1, but is 0", cure: "Leave it out for no cap" },
    { field: "prefetch", rule: "must not be negative, but is -1", cure: "Set it to 0" },
  ];

  it("says every problem on a line of its own, with field, rule and cure", () => {
    expect(new ConfigError(problems).message.split("\n")).toEqual([
      "this app cannot start, 2 problems:",
      "  clusterCap: must be at least 1, but is 0. Leave it out for no cap.",
      "  prefetch: must not be negative, but is -1. Set it to 0.",
    ]);
  });

  it("keeps the problems as data", () => {
    const error = new ConfigError(problems);
    expect(error).toBeInstanceOf(SluiceError);
    expect(error.code).toBe("BAD_CONFIG");
    expect(error.problems).toEqual(problems);
    expect(error.details).toEqual({ problems });
  });
});
