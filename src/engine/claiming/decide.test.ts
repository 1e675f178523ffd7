import { describe, expect, test } from "vitest";
import { bornAs } from "../../core/gate/kind.ts";
import type { GateRow, HeadRow, LaneRow, PrefetchedRow, Scope, SessionRow, View } from "../../store/store.ts";
import { RUNS } from "../../store/store.ts";
import type { Report, Seat } from "./claims.ts";
import type { Decision } from "./decide.ts";
import { decide } from "./decide.ts";
import { servesText } from "./serving.ts";

const NOW = 10_000;

const seat: Seat = { name: "me", slots: 4, prefetch: 0, claimLeaseMs: 60_000, queues: ["q"], tasks: ["t"] };

const report = {
  finished: [],
  started: [],
  active: 0,
  appetite: 1_000,
  draining: false,
  hinted: true,
  ownTurn: false,
};

const gate = (key: string, limit: number | null, more: Partial<GateRow> = {}): GateRow => ({
  key,
  limit,
  paused: false,
  line: bornAs(key).line,
  leaseMs: null,
  locked: true,
  ...more,
});

const lane = (id: string, asks: Record<string, number>, more: Partial<LaneRow> = {}): LaneRow => ({
  id,
  queue: "q",
  task: "t",
  asks: JSON.stringify(Object.entries(asks)),
  rank: 100,
  state: "open",
  parked: null,
  head: { priority: 0, at: 0, id: "" },
  stamp: 1,
  mark: null,
  blocked: "[]",
  ...more,
});

const head = (id: string, of: string, at: number, more: Partial<HeadRow> = {}): HeadRow => ({
  id,
  lane: of,
  priority: 0,
  at,
  goodUntil: null,
  ...more,
});

const heads = (of: string, ...ids: readonly string[]): HeadRow[] =>
  ids.map((id, index) => head(id, of, index + 1));

const session = (id: string, slots = 4, tasks = ["t"]): SessionRow => ({
  id,
  slots,
  serves: servesText(["q"], tasks),
});

const ahead = (id: string, of: string, at: number, epoch: number): PrefetchedRow => ({
  ...head(id, of, at),
  epoch,
});

const picture = (more: Partial<View>): View => ({
  now: NOW,
  gates: [],
  usage: [],
  lanes: [],
  heads: [],
  prefetched: [],
  sessions: [session("me")],
  lost: [],
  beyond: [],
  ...more,
});

interface Turn {
  readonly seat?: Partial<Seat>;
  readonly report?: Partial<Report>;
  readonly scope?: Partial<Scope>;
  readonly want?: number;
}

function decided(view: Partial<View>, turn: Turn = {}): Decision {
  const seen = picture(view);
  const scope: Scope = {
    session: "me",
    finished: [],
    started: [],
    lanes: seen.lanes.map(({ id }) => ({ id, want: turn.want ?? 100 })),
    without: [],
    exclusive: [],
    shared: [],
    intake: true,
    queues: ["q"],
    perQueue: 32,
    parkedOn: [],
    elsewhere: [],
    sideBySide: false,
    prefetching: 0,
    ...turn.scope,
  };
  return decide(seen, scope, { ...seat, ...turn.seat }, { ...report, ...turn.report });
}

const claimed = ({ moves }: Decision): string[] => moves.claim.map(({ id, held }) => (held ? id : `(${id})`));

const running = (of: LaneRow, by: string, units: number, held = true) => ({
  lane: of.id,
  asks: of.asks,
  session: by,
  held,
  lost: false,
  units,
});

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
