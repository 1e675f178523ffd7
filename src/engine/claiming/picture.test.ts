import { describe, expect, test } from "vitest";
import { claimed, decided, gate, head, heads, lane } from "../../../test/support/deciding.ts";
import type { LaneRow } from "../../store/store.ts";

describe("a lane of which more units are known than shown", () => {
  const wide = lane("wide", { "queue:q": 1 });

  test("keeps its last unit as the frontier, and there is more to see", () => {
    const decision = decided(
      { gates: [gate("queue:q", -1)], lanes: [wide], heads: heads("wide", "a", "b") },
      { want: 2 },
    );
    expect(claimed(decision)).toEqual(["a"]);
    expect(decision.more).toBe(true);
  });

  test("has nothing more to see for a claimer without a free slot", () => {
    const decision = decided(
      { gates: [gate("queue:q", -1)], lanes: [wide], heads: heads("wide", "a", "b") },
      { want: 2, report: { active: 3 } },
    );
    expect(claimed(decision)).toEqual(["a"]);
    expect(decision.more).toBe(false);
  });

  test("is claimed whole when all of it was shown", () => {
    const decision = decided(
      { gates: [gate("queue:q", -1)], lanes: [wide], heads: heads("wide", "a", "b") },
      { want: 3 },
    );
    expect(claimed(decision)).toEqual(["a", "b"]);
    expect(decision.more).toBe(false);
  });
});

describe("a lane that could not be read", () => {
  const known = lane("known", { "queue:q": 1 });
  const unlocked = lane(
    "unlocked",
    { "queue:q": 1, "pool:gpu": 1 },
    { head: { priority: 0, at: 2, id: "u" } },
  );
  const view = {
    gates: [gate("queue:q", -1, { locked: false }), gate("pool:gpu", 5, { locked: false })],
    lanes: [known, unlocked],
    heads: [head("a", "known", 1), head("u", "unlocked", 2), head("z", "known", 3)],
  };

  test("because a gate that can bind was not locked, is a horizon and is reported", () => {
    const decision = decided(view);
    expect(claimed(decision)).toEqual(["a"]);
    expect(decision.unread.map(({ id }) => id)).toEqual(["unlocked"]);
    expect(decision.more).toBe(true);
  });

  test("is read when its gate was locked alone, or cannot bind", () => {
    const locked = { ...view, gates: [gate("queue:q", -1, { locked: false }), gate("pool:gpu", 5)] };
    expect(claimed(decided(locked))).toEqual(["a", "u", "z"]);
    const unbound = { ...view, gates: [gate("queue:q", -1), gate("pool:gpu", -1, { locked: false })] };
    expect(claimed(decided(unbound))).toEqual(["a", "u", "z"]);
  });

  test("is unread, too, when its gate is not there at all", () => {
    const decision = decided({ ...view, gates: [gate("queue:q", -1)] });
    expect(claimed(decision)).toEqual(["a"]);
    expect(decision.unread.map(({ id }) => id)).toEqual(["unlocked"]);
  });

  test("holds nobody up when nobody waits in it", () => {
    const decision = decided({ ...view, heads: view.heads.filter((unit) => unit.lane === "known") });
    expect(claimed(decision)).toEqual(["a", "z"]);
    expect(decision.unread.map(({ id }) => id)).toEqual(["unlocked"]);
  });
});

describe("lanes beyond the scope", () => {
  const known = lane("known", { "queue:q": 1 });
  const at = { head: { priority: 0, at: 2, id: "x" } };
  const view = (beyond: LaneRow) => ({
    gates: [gate("queue:q", 3)],
    lanes: [known],
    heads: [head("a", "known", 1), head("z", "known", 3)],
    beyond: [beyond],
  });

  test("are served in their turn: nothing is claimed behind the first of them", () => {
    const decision = decided(view(lane("ours", { "pool:gpu": 1 }, at)));
    expect(claimed(decision)).toEqual(["a"]);
    expect(decision.more).toBe(true);
  });

  test("count, too, when others serve them: they may ask for the same gates", () => {
    expect(claimed(decided(view(lane("theirs", { "queue:q": 1 }, { ...at, task: "other" }))))).toEqual(["a"]);
  });

  test("are worth another look for a claimer that took all it was shown and has room", () => {
    const last = { ...view(lane("ours", { "queue:q": 1 }, { head: { priority: 0, at: 9, id: "x" } })) };
    const decision = decided(last);
    expect(claimed(decision)).toEqual(["a", "z"]);
    expect(decision.more).toBe(true);
    expect(decided(last, { report: { active: 2 } }).more).toBe(false);
  });
});
