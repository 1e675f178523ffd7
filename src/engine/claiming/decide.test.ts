import { describe, expect, test } from "vitest";
import {
  ahead,
  claimed,
  decided,
  gate,
  head,
  heads,
  lane,
  NOW,
  picture,
  running,
  session,
} from "../../../test/support/deciding.ts";
import { RUNS } from "../../store/store.ts";
import { servesText } from "./serving.ts";

describe("a claimer takes", () => {
  const wide = lane("wide", { "queue:q": 1 });

  test("no more than its own free slots, the first in order", () => {
    const view = {
      gates: [gate("queue:q", -1, { locked: false })],
      lanes: [wide],
      heads: heads("wide", "a", "b", "c"),
    };
    expect(claimed(decided(view, { report: { active: 2 } }))).toEqual(["a", "b"]);
    expect(claimed(decided(view, { report: { active: 4 } }))).toEqual([]);
  });

  test("no more than a gate has room for, and nothing that does not fit whole", () => {
    const small = lane("small", { "queue:q": 1, "pool:gpu": 1 });
    const large = lane("large", { "queue:q": 1, "pool:gpu": 3 });
    const view = {
      gates: [gate("queue:q", -1), gate("pool:gpu", 4)],
      usage: [running(small, "other", 2)],
      lanes: [small, large],
      heads: [
        head("big", "large", 1),
        head("s1", "small", 2),
        head("s2", "small", 3),
        head("s3", "small", 4),
      ],
    };
    expect(claimed(decided(view))).toEqual(["s1", "s2"]);
  });

  test("nothing on behalf of holders that are lost, nor of those that hold nothing yet", () => {
    const narrow = lane("narrow", { "queue:q": 1 });
    const view = (more: object) => ({
      gates: [gate("queue:q", 1)],
      usage: [{ ...running(narrow, "gone", 1), ...more }],
      lanes: [narrow],
      heads: heads("narrow", "a"),
    });
    expect(claimed(decided(view({})))).toEqual([]);
    expect(claimed(decided(view({ lost: true })))).toEqual(["a"]);
    expect(claimed(decided(view({ held: false })))).toEqual(["a"]);
  });

  test("by rank, then priority, then time, whatever lane a unit is in", () => {
    const first = lane("first", { "queue:a": 1 }, { rank: 1 });
    const second = lane("second", { "queue:b": 1 }, { rank: 2 });
    const view = {
      gates: [gate("queue:a", -1), gate("queue:b", -1)],
      lanes: [second, first],
      heads: [
        head("early", "second", 1),
        head("urgent", "second", 9, { priority: 5 }),
        head("ranked", "first", 20),
      ],
    };
    expect(decided(view, { report: { active: 2 } }).plan.admitted.map(({ id }) => id)).toEqual([
      "ranked",
      "urgent",
    ]);
  });

  test("nothing of a task or queue that it does not serve", () => {
    const foreign = lane("foreign", { "queue:q": 1 }, { task: "other" });
    const elsewhere = lane("elsewhere", { "queue:q": 1 }, { queue: "z" });
    const view = {
      gates: [gate("queue:q", -1)],
      lanes: [foreign, elsewhere],
      heads: [head("a", "foreign", 1), head("b", "elsewhere", 2)],
    };
    const decision = decided(view);
    expect(claimed(decision)).toEqual([]);
    expect(decision.plan.waiting.get("a")).toEqual([{ kind: "noWorker", queue: "q", name: "other" }]);
  });

  test("nothing while it is draining, and says that others may", () => {
    const view = {
      gates: [gate("queue:q", -1)],
      lanes: [wide],
      heads: heads("wide", "a", "b"),
      sessions: [session("me"), session("you", 1)],
    };
    const decision = decided(view, { report: { draining: true }, seat: { prefetch: 3 } });
    expect(claimed(decision)).toEqual([]);
    expect(decision.forOthers).toEqual(["a"]);
    expect(decision.more).toBe(false);
  });

  test("nothing once its session is no longer among the living, and is told so", () => {
    const view = {
      gates: [gate("queue:q", -1)],
      lanes: [wide],
      heads: heads("wide", "a"),
      sessions: [session("you")],
    };
    const decision = decided(view, { seat: { prefetch: 2 } });
    expect(claimed(decision)).toEqual([]);
    expect(decision.ended).toBe(true);
    expect(decided({ ...view, sessions: [session("you"), session("me")] }).ended).toBe(false);
  });

  test("and a run that was let in is news; a task is none", () => {
    const both = decided(
      {
        gates: [gate("runs", 9), gate("queue:q", 9)],
        lanes: [lane("l", { "queue:q": 1 }), lane("runs", { runs: 1 }, { queue: RUNS })],
        heads: [...heads("l", "task"), ...heads("runs", "run")],
        sessions: [{ id: "me", slots: 4, serves: servesText(["q", RUNS], ["*"]) }],
      },
      { seat: { queues: ["q", RUNS], tasks: ["*"] } },
    );
    expect(claimed(both).sort()).toEqual(["run", "task"]);
    expect(both.moves.news).toEqual([{ run: "run", failed: null }]);
  });

  test("with the shortest lease of the gates that it asks, and without one where none of them has any", () => {
    const leased = (key: string, leaseMs: number | null) => gate(key, 9, { leaseMs });
    const { moves } = decided({
      gates: [leased("pool:a", 9_000), leased("pool:b", 3_000), leased("pool:c", null)],
      lanes: [lane("l", { "pool:a": 1, "pool:b": 1, "pool:c": 1 }), lane("m", { "pool:c": 1 })],
      heads: [...heads("l", "one"), ...heads("m", "two")],
    });
    expect(moves.claim.map(({ id, leaseMs }) => [id, leaseMs])).toEqual([
      ["one", 3_000],
      ["two", null],
    ]);
  });

  test("with the claim lease of its seat", () => {
    expect(decided({}, { seat: { claimLeaseMs: 1_234 } }).moves.claimLeaseMs).toBe(1_234);
  });
});

describe("what one worker leaves to another", () => {
  const narrow = lane("narrow", { "queue:q": 1 });
  const line = heads("narrow", "a", "b", "c", "d", "e", "f");
  const two = [session("me"), session("you")];

  test("is its part where a gate is scarce", () => {
    const view = { gates: [gate("queue:q", 4)], lanes: [narrow], heads: line, sessions: two };
    const decision = decided(view);
    expect(claimed(decision)).toEqual(["a", "b"]);
    expect(decision.yielded).toBe(true);
    expect(decision.forOthers).toEqual(["c", "d"]);
  });

  test("is its part, too, where only the last unit shown would find the gate full", () => {
    const view = { gates: [gate("queue:q", 4)], lanes: [narrow], heads: line.slice(0, 5), sessions: two };
    expect(claimed(decided(view, { want: 5 }))).toEqual(["a", "b"]);
    const enough = { ...view, gates: [gate("queue:q", 5)] };
    expect(claimed(decided(enough, { want: 5 }))).toEqual(["a", "b", "c", "d"]);
  });

  test("is nothing where no gate binds: there is enough for both", () => {
    const view = {
      gates: [gate("queue:q", -1)],
      lanes: [narrow],
      heads: line.slice(0, 4),
      sessions: two,
    };
    const decision = decided(view);
    expect(claimed(decision)).toEqual(["a", "b", "c", "d"]);
    expect(decision.yielded).toBe(false);
  });

  test("is nothing when the other has no free slot", () => {
    const view = {
      gates: [gate("queue:q", 8), gate("queue:other", -1)],
      usage: [running(narrow, "you", 4)],
      lanes: [narrow],
      heads: line,
      sessions: two,
    };
    expect(claimed(decided(view))).toEqual(["a", "b", "c", "d"]);
  });

  test("is nothing when the other does not serve that work", () => {
    const view = {
      gates: [gate("queue:q", 4)],
      lanes: [narrow],
      heads: line,
      sessions: [session("me"), session("you", 4, ["other"])],
    };
    expect(claimed(decided(view))).toEqual(["a", "b", "c", "d"]);
  });

  test("is nothing when it is our own turn", () => {
    const view = { gates: [gate("queue:q", 4)], lanes: [narrow], heads: line, sessions: two };
    const decision = decided(view, { report: { ownTurn: true } });
    expect(claimed(decision)).toEqual(["a", "b", "c", "d"]);
    expect(decision.yielded).toBe(false);
  });

  test("is what its own slots do not suffice for", () => {
    const view = { gates: [gate("queue:q", -1)], lanes: [narrow], heads: line, sessions: two };
    const decision = decided(view);
    expect(claimed(decision)).toEqual(["a", "b", "c", "d"]);
    expect(decision.forOthers).toEqual(["e", "f"]);
  });
});

describe("a unit whose time is over", () => {
  const narrow = lane("narrow", { "queue:q": 1 });

  test("is expired and not claimed, and the next one is", () => {
    const decision = decided({
      gates: [gate("queue:q", 1)],
      lanes: [narrow],
      heads: [
        head("late", "narrow", 1, { goodUntil: NOW }),
        head("good", "narrow", 2, { goodUntil: NOW + 1 }),
      ],
    });
    expect(decision.moves.expire).toEqual(["late"]);
    expect(claimed(decision)).toEqual(["good"]);
  });

  test("does not make a lane look empty when more of it was not shown", () => {
    const over = { goodUntil: NOW };
    const others = Array.from({ length: 60 }, (_, index) => lane(`other${index}`, { "queue:q": 1 }));
    const decision = decided(
      {
        gates: [gate("queue:q", 5)],
        lanes: [narrow, ...others],
        heads: [head("late", "narrow", 1, over), head("later", "narrow", 2, over)],
      },
      { want: 2 },
    );
    expect(decision.moves.expire).toEqual(["late", "later"]);
    expect(decision.moves.lanes.filter((move) => move.lane === "narrow")).toEqual([]);
    expect(decision.moves.lanes.filter((move) => move.state === "idle")).toHaveLength(60);
    expect(decision.more).toBe(true);
  });
});

test("claims of those who are gone are recovered in the same breath, and there is more to do", () => {
  const lost = {
    id: "a",
    epoch: 3,
    lane: "x",
    started: false,
    attempt: 1,
    losses: 0,
    goodUntil: null,
    options: "{}",
    input: null,
  };
  const decision = decided({ lost: [lost] });
  expect(decision.moves.recover).toEqual([{ id: "a", epoch: 3, to: "waiting", body: null }]);
  expect(decision.more).toBe(true);
  expect(decided({ lost: [lost] }, { report: { active: 4 } }).more).toBe(false);
});

test("a decision leaves what it was shown untouched", () => {
  const narrow = lane("narrow", { "queue:q": 1 });
  const view = picture({
    gates: [gate("queue:q", 1)],
    lanes: [narrow],
    heads: heads("narrow", "b", "a"),
    prefetched: [ahead("p", "narrow", 0, 1)],
  });
  const before = structuredClone(view);
  decided(view, { seat: { prefetch: 2 } });
  expect(view).toEqual(before);
});
