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
    expect("cause" in new SluiceError("UNKNOWN_ID", "it is gone")).toBe(false);
  });

  it("says its remedies as calls, and keeps them and its own sentence apart", () => {
    const remedies = [{ action: "makeGate", gate: "pool:a", limit: 3 }, { action: "listLimits" }] as const;
    const error = new SluiceError("UNKNOWN_GATE", 'There is no gate "pool:a".', { remedies });
    expect(error).toMatchObject({ sentence: 'There is no gate "pool:a".', remedies });
    expect(error.message).toBe(
      'There is no gate "pool:a". To set it before anything asks for it: sluice.limits.set("pool:a", 3, "code", { isNew: true }). See: sluice.limits.list()',
    );
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
