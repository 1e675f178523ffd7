import { describe, expect, it } from "vitest";
import type { Gate, Limit } from "./gate.ts";
import { bounded, draining, lineFrom, most, obstacle, UNLIMITED } from "./gate.ts";

const gate = (limit: Limit, held = 0, paused = false): Gate => ({
  key: "g",
  limit,
  paused,
  line: "strict",
  held,
});

describe("what stands between an ask and its gate", () => {
  it("is nothing while held, those ahead and the ask fit into the limit", () => {
    expect(obstacle(gate(5), 2, 1, 2)).toBeUndefined();
  });

  it("is `full` when the ask does not fit beside what is held, whoever is ahead", () => {
    expect(obstacle(gate(5), 4, 0, 2)).toBe("full");
    expect(obstacle(gate(5), 4, 3, 2)).toBe("full");
    expect(obstacle(gate(5), 7, 0, 1)).toBe("full");
  });

  it("is `behind` when it fits, but not beside what those ahead want", () => {
    expect(obstacle(gate(5), 2, 2, 2)).toBe("behind");
  });

  it("is `never` when the ask is larger than the limit, even at an empty gate", () => {
    expect(obstacle(gate(2), 0, 0, 3)).toBe("never");
  });

  it("is `unset` without a limit, and `paused` when paused or at limit 0", () => {
    expect(obstacle(gate(null), 0, 0, 1)).toBe("unset");
    expect(obstacle(gate(null, 0, true), 0, 0, 1)).toBe("unset");
    expect(obstacle(gate(0), 0, 0, 1)).toBe("paused");
    expect(obstacle(gate(5, 0, true), 0, 0, 1)).toBe("paused");
    expect(obstacle(gate(UNLIMITED, 0, true), 0, 0, 1)).toBe("paused");
  });

  it("is nothing at an unlimited gate, however much is held and wanted", () => {
    expect(obstacle(gate(UNLIMITED), 1_000, Number.POSITIVE_INFINITY, 1_000)).toBeUndefined();
  });
});

describe("a gate", () => {
  it("drains while more is held than its limit, and only then", () => {
    expect(draining(gate(5, 7))).toBe(true);
    expect(draining(gate(0, 1))).toBe(true);
    expect(draining(gate(5, 5))).toBe(false);
    expect(draining(gate(UNLIMITED, 7))).toBe(false);
    expect(draining(gate(null, 7))).toBe(false);
  });

  it("can bind unless it is unlimited and not paused", () => {
    expect(bounded(gate(5))).toBe(true);
    expect(bounded(gate(null))).toBe(true);
    expect(bounded(gate(UNLIMITED, 0, true))).toBe(true);
    expect(bounded(gate(UNLIMITED))).toBe(false);
  });

  it("holds at most as many units of an ask as fit into its limit, whatever is held now", () => {
    expect(most(gate(5, 4), 1)).toBe(5);
    expect(most(gate(5), 2)).toBe(2);
    expect(most(gate(2), 3)).toBe(0);
    expect(most(gate(0), 1)).toBe(0);
  });

  it("holds none while paused or unset, and has no end when unlimited", () => {
    expect(most(gate(5, 0, true), 1)).toBe(0);
    expect(most(gate(null), 1)).toBe(0);
    expect(most(gate(UNLIMITED, 0, true), 1)).toBe(0);
    expect(most(gate(UNLIMITED), 9)).toBe(Number.POSITIVE_INFINITY);
  });
});

it("a line is served as it is written, and in the strictest way when it is not known", () => {
  expect(["skip", "strict", "bypass"].map(lineFrom)).toEqual(["skip", "strict", "bypass"]);
  expect(lineFrom("by the moon")).toBe("strict");
});
