import { describe, expect, test } from "vitest";
import type { InspectedGate } from "../../store/store.ts";
import { inForceSince, limitsCheck } from "./over.ts";

const gate = (more: Partial<InspectedGate> = {}): InspectedGate => ({
  key: "pool:gpu",
  limit: 2,
  declared: 2,
  paused: false,
  line: "bypass",
  leaseMs: null,
  setBy: null,
  setAt: null,
  held: 0,
  perValue: false,
  said: [],
  grantedAt: null,
  changed: null,
  ...more,
});
const FOREVER = Number.NEGATIVE_INFINITY;

describe("since when a limit is in force", () => {
  test.each<[string, Partial<InspectedGate>, number | null]>([
    ["from the beginning, where the app has always said so", {}, FOREVER],
    ["from the declaration that changed it", { setAt: 7 }, 7],
    ["from the operator's change", { limit: 5, setBy: "ann", setAt: 7, changed: { at: 7, limit: 5 } }, 7],
    ["from a pause after that", { limit: 5, setBy: "ann", setAt: 7, changed: { at: 9, limit: 5 } }, 9],
    [
      "unknown, where SQL changed what the operator had set",
      { limit: 4, setBy: "ann", changed: { at: 7, limit: 5 } },
      null,
    ],
    ["unknown, where SQL changed what the app declares", { limit: 1 }, null],
  ])("%s", (_, more, since) => {
    expect(inForceSince(gate(more))).toBe(since);
  });

  test("a gate of one value has its family's, unless it has one of its own", () => {
    const family = gate({ key: "pool:tenant=*", setAt: 7 });
    const acme = (more: Partial<InspectedGate>) => gate({ key: "pool:tenant=acme", declared: null, ...more });
    expect(inForceSince(acme({ perValue: true }), family)).toBe(7);
    // Set, and reset at 9: the family's holds again from then on.
    expect(inForceSince(acme({ perValue: true, changed: { at: 9, limit: null } }), family)).toBe(9);
    // What apps declare for this value is stricter.
    expect(inForceSince(acme({ limit: 1, declared: 1, setAt: 8 }), family)).toBe(8);
    expect(inForceSince(acme({ limit: 1 }), family)).toBeNull();
    expect(inForceSince(acme({ limit: 1, setBy: "ann", changed: { at: 8, limit: 1 } }), family)).toBe(8);
  });
});

describe("a gate above its limit", () => {
  const verdict = (more: Partial<InspectedGate>) =>
    limitsCheck({ gates: [gate(more)], broken: { malformedGates: { ids: [], more: false } } } as never)
      .verdict;

  test("is broken when the newest grant came after the limit", () => {
    expect(verdict({ held: 3, setAt: 100, grantedAt: 101 })).toBe("fail");
    expect(verdict({ held: 3, grantedAt: 101 })).toBe("fail");
  });

  test.each(["runs", "tag:env=prod"])("is no fault at %s, which direct runs go past", (key) => {
    expect(verdict({ key, held: 3, grantedAt: 101 })).toBe("warn");
  });

  test("drains when all grants came before it, or when nobody knows", () => {
    expect(verdict({ held: 3, setAt: 100, grantedAt: 100 })).toBe("warn");
    expect(verdict({ held: 3, limit: 1, grantedAt: 900 })).toBe("warn");
  });

  test("is none where it is as full as it may be", () => {
    expect(verdict({ held: 2, grantedAt: 900 })).toBe("ok");
    expect(verdict({ held: 99, limit: -1, grantedAt: 900 })).toBe("ok");
  });
});
