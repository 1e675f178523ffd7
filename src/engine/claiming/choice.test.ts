import { describe, expect, test } from "vitest";
import type { Turn } from "../../../test/support/deciding.ts";
import {
  ahead,
  claimed,
  decided,
  gate,
  head,
  heads,
  lane,
  NOW,
  running,
  session,
} from "../../../test/support/deciding.ts";
import type { GateRow } from "../../store/store.ts";

describe("in soft mode", () => {
  const narrow = lane("narrow", { "queue:q": 1 });
  const soft = (prefetch: number): Turn => ({ seat: { prefetch }, scope: { prefetching: 9 } });

  test("claims taken ahead start before newer ones are claimed, at the place they always had", () => {
    const decision = decided(
      {
        gates: [gate("queue:q", 1)],
        usage: [running(narrow, "me", 1, false)],
        lanes: [narrow],
        heads: [head("newer", "narrow", 5)],
        prefetched: [ahead("older", "narrow", 1, 77)],
      },
      soft(1),
    );
    expect(decision.moves.start).toEqual([{ id: "older", epoch: 77 }]);
    // Its place ahead of time is free again, and is taken.
    expect(claimed(decision)).toEqual(["(newer)"]);
  });

  test("a more urgent newcomer overtakes what was claimed ahead of time", () => {
    const decision = decided(
      {
        gates: [gate("queue:q", 1)],
        usage: [running(narrow, "me", 1, false)],
        lanes: [narrow],
        heads: [head("urgent", "narrow", 5, { priority: 9 })],
        prefetched: [ahead("older", "narrow", 1, 77)],
      },
      soft(1),
    );
    expect(decision.moves.start).toEqual([]);
    expect(claimed(decision)).toEqual(["urgent"]);
  });

  test("it claims ahead up to its number, counting what it has, in order", () => {
    const view = {
      gates: [gate("queue:q", 1)],
      usage: [running(narrow, "other", 1)],
      lanes: [narrow],
      heads: [head("c", "narrow", 3), head("b", "narrow", 2), head("d", "narrow", 4)],
    };
    expect(claimed(decided(view, soft(2)))).toEqual(["(b)", "(c)"]);
    const one = {
      ...view,
      usage: [...view.usage, running(narrow, "me", 1, false), running(narrow, "other", 9, false)],
      prefetched: [ahead("a", "narrow", 1, 7)],
    };
    expect(claimed(decided(one, soft(2)))).toEqual(["(b)"]);
    expect(claimed(decided(one, soft(1)))).toEqual([]);
    expect(claimed(decided(view, soft(0)))).toEqual([]);
  });

  test("it claims ahead only what it serves itself", () => {
    const foreign = lane("foreign", { "queue:q": 1 }, { task: "other" });
    const view = {
      gates: [gate("queue:q", 1)],
      usage: [running(narrow, "other", 1)],
      lanes: [foreign, narrow],
      heads: [head("theirs", "foreign", 1), head("ours", "narrow", 2)],
      sessions: [session("me"), session("you", 4, ["other"])],
    };
    expect(claimed(decided(view, soft(5)))).toEqual(["(ours)"]);
  });

  test("it does not claim ahead what no freed slot could start", () => {
    const view = (only: GateRow) => ({ gates: [only], lanes: [narrow], heads: heads("narrow", "a") });
    expect(claimed(decided(view(gate("queue:q", 0)), soft(5)))).toEqual([]);
    expect(claimed(decided(view(gate("queue:q", 3, { paused: true })), soft(5)))).toEqual([]);
    expect(claimed(decided(view(gate("queue:q", null)), soft(5)))).toEqual([]);
  });

  test("what was claimed ahead and is past its deadline does not start", () => {
    const late = { ...ahead("late", "narrow", 1, 7), goodUntil: NOW };
    const view = { gates: [gate("queue:q", 1)], lanes: [narrow], prefetched: [late] };
    expect(decided(view, soft(1)).moves.start).toEqual([]);
    const good = { ...late, goodUntil: NOW + 1 };
    expect(decided({ ...view, prefetched: [good] }, soft(1)).moves.start).toEqual([{ id: "late", epoch: 7 }]);
  });
});
