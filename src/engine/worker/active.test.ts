import { afterEach, describe, expect, test, vi } from "vitest";
import type { Claimed } from "../claiming/claims.ts";
import { ActiveSlots } from "./active.ts";

const claim: Claimed = {
  id: "a",
  name: "t",
  lane: "lane",
  epoch: 1,
  attempt: 1,
  losses: 0,
  held: true,
  input: "{}",
  options: "{}",
  goodUntil: null,
  leaseMs: null,
};

afterEach(() => {
  vi.unstubAllGlobals();
});

describe("the signal of a running task", () => {
  test("is made only when somebody looks at it, and only once", () => {
    const made = vi.fn();
    const Real = AbortController;
    vi.stubGlobal(
      "AbortController",
      class extends Real {
        constructor() {
          super();
          made();
        }
      },
    );
    const active = new ActiveSlots(claim, false);
    active.abort(new Error("never looked"));
    expect(made).not.toHaveBeenCalled();
    expect(active.signal).toBe(active.signal);
    expect(made).toHaveBeenCalledTimes(1);
  });

  test("is aborted with the reason when the task is, while it is being watched", () => {
    const active = new ActiveSlots(claim, false);
    const { signal } = active;
    const seen = vi.fn();
    signal.addEventListener("abort", seen);
    expect(signal.aborted).toBe(false);
    const reason = new Error("lease lost");
    active.abort(reason);
    expect([signal.aborted, signal.reason, seen.mock.calls.length]).toEqual([true, reason, 1]);
  });

  test("is aborted already for code that looks at it too late, with the first reason it sees", () => {
    const active = new ActiveSlots(claim, false);
    const reason = new Error("cancelled");
    active.abort(reason);
    expect(active.signal.aborted).toBe(true);
    expect(active.signal.reason).toBe(reason);
  });
});

test("a claim knows whether the store knows that it began", () => {
  expect([new ActiveSlots(claim, false).marked, new ActiveSlots(claim, true).marked]).toEqual([false, true]);
});
