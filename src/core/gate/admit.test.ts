import { describe, expect, it } from "vitest";
import { decide, gate, kinds, left, started, unit } from "../../../test/support/gates-and-line.ts";
import type { Waiter } from "./admit.ts";
import { admit } from "./admit.ts";
import type { Gate } from "./gate.ts";
import type { Reason } from "./reason.ts";
import { gatesNamed } from "./reason.ts";

describe("all or none", () => {
  it("a unit that finds one of its gates full takes nothing at the others", () => {
    const gates = [gate("cluster", "skip", 5), gate("queue", "skip", 1, 1), gate("db", "bypass", 5)];
    const plan = decide(gates, [unit("a", { cluster: 1, queue: 1, db: 2 })]);
    expect(started(plan)).toEqual([]);
    expect(Object.fromEntries(plan.held)).toEqual({ cluster: 0, queue: 1, db: 0 });
  });

  it("a unit that finds room everywhere takes all it asks for", () => {
    const gates = [gate("cluster", "skip", 5), gate("queue", "skip", 2, 1), gate("db", "bypass", 5, 3)];
    const plan = decide(gates, [unit("a", { cluster: 1, queue: 1, db: 2 })]);
    expect(started(plan)).toEqual(["a"]);
    expect(Object.fromEntries(plan.held)).toEqual({ cluster: 1, queue: 2, db: 5 });
  });

  it("every gate in the way is named, not only the first", () => {
    const gates = [gate("cluster", "skip", 5, 5), gate("queue", "skip", 1), gate("db", "bypass", 5, 4)];
    const plan = decide(gates, [unit("a", { cluster: 1, queue: 1, db: 2 })]);
    expect(plan.waiting.get("a")).toEqual([
      { kind: "full", gate: "cluster", limit: 5, held: 5, asked: 1, ahead: 0 },
      { kind: "full", gate: "db", limit: 5, held: 4, asked: 2, ahead: 0 },
    ]);
  });

  it("asks have weight: a small one fits where a large one does not", () => {
    const plan = decide([gate("db", "skip", 5, 3)], [unit("large", { db: 3 }), unit("small", { db: 2 })]);
    expect(started(plan)).toEqual(["small"]);
    expect(plan.held.get("db")).toBe(5);
  });

  it("slots are counted as the line is walked, so the last one is given once", () => {
    const plan = decide(
      [gate("db", "skip", 2)],
      [unit("a", { db: 1 }), unit("b", { db: 1 }), unit("c", { db: 1 })],
    );
    expect(started(plan)).toEqual(["a", "b"]);
    expect(plan.waiting.get("c")).toEqual([
      { kind: "full", gate: "db", limit: 2, held: 2, asked: 1, ahead: 0 },
    ]);
  });

  it("`ahead` counts those in front that wait for the same gate", () => {
    const plan = decide(
      [gate("db", "skip", 1, 1), gate("other", "skip", 1, 1)],
      [unit("a", { db: 1 }), unit("x", { other: 1 }), unit("b", { db: 1 }), unit("c", { db: 1 })],
    );
    expect(plan.waiting.get("c")).toMatchObject([{ kind: "full", ahead: 2 }]);
  });

  it("`ahead` is what the snapshot says where it does not hold everybody", () => {
    const plan = decide([gate("db", "skip", 1, 1)], [unit("a", { db: 1 }, { ahead: { db: 70_000 } })]);
    expect(plan.waiting.get("a")).toMatchObject([{ kind: "full", ahead: 70_000 }]);
  });
});

describe("the limit of a gate", () => {
  const line = [unit("a", { db: 1 }), unit("b", { db: 1 })];

  it("that nobody has set lets nobody in, whether the gate is known or not", () => {
    const expected = [{ kind: "unset", gate: "db", ahead: 1 }];
    expect(decide([gate("db", "skip", null)], line).waiting.get("b")).toEqual(expected);
    expect(decide([], line).waiting.get("b")).toEqual(expected);
  });

  it("of 0 pauses, as pausing does", () => {
    const expected = [{ kind: "paused", gate: "db", ahead: 0 }];
    expect(decide([gate("db", "skip", 0)], line).waiting.get("a")).toEqual(expected);
    expect(decide([{ ...gate("db", "skip", 5), paused: true }], line).waiting.get("a")).toEqual(expected);
  });

  it("of -1 lets everybody in", () => {
    expect(started(decide([gate("db", "strict", -1, 70)], line))).toEqual(["a", "b"]);
  });

  it("smaller than an ask says `never`", () => {
    const plan = decide([gate("db", "strict", 2)], [unit("a", { db: 3 })]);
    expect(plan.waiting.get("a")).toEqual([{ kind: "never", gate: "db", limit: 2, asked: 3 }]);
  });

  it("lowered below what is held evicts nobody and lets nobody in until it has drained", () => {
    expect(kinds(decide([gate("db", "skip", 5, 7)], line), "a")).toEqual(["full db"]);
    expect(kinds(decide([gate("db", "skip", 5, 5)], line), "a")).toEqual(["full db"]);
    expect(started(decide([gate("db", "skip", 5, 4)], line))).toEqual(["a"]);
  });

  it.each([
    ["unset", gate("other", "strict", null)],
    ["paused", gate("other", "strict", 0)],
    ["never", gate("other", "strict", 1)],
  ])("that is %s holds nobody back elsewhere, since no free slot could help", (kind, other) => {
    const plan = decide(
      [gate("lock", "strict", 1), other],
      [unit("a", { lock: 1, other: 2 }), unit("b", { lock: 1 })],
    );
    expect(kinds(plan, "a")).toEqual([`${kind} other`]);
    expect(started(plan)).toEqual(["b"]);
  });
});

describe("a skip line", () => {
  it("passes over a blocked unit", () => {
    const gates = [gate("a", "skip", 1, 1), gate("shared", "skip", 1)];
    const plan = decide(gates, [unit("blocked", { a: 1, shared: 1 }), unit("free", { shared: 1 })]);
    expect(started(plan)).toEqual(["free"]);
  });

  it("gives the only slot to the better placed unit, whatever the order of the input", () => {
    const late = unit("late", { db: 1 }, { at: 5 });
    const early = unit("early", { db: 1 }, { at: 1 });
    const urgent = unit("urgent", { db: 1 }, { at: 9, priority: 1 });
    const gates = [gate("db", "skip", 1)];
    expect(started(admit({ now: 0, gates, line: [late, early] }))).toEqual(["early"]);
    expect(started(admit({ now: 0, gates, line: [late, early, urgent] }))).toEqual(["urgent"]);
  });
});

describe("a strict line", () => {
  it("holds back those behind a front that does not fit yet, though there is room for them", () => {
    const plan = decide(
      [gate("sem", "strict", 3, 2)],
      [unit("front", { sem: 2 }), unit("small", { sem: 1 })],
    );
    expect(started(plan)).toEqual([]);
    expect(plan.waiting.get("small")).toEqual([
      {
        kind: "behind",
        gate: "sem",
        limit: 3,
        held: 2,
        asked: 1,
        ahead: 1,
        front: {
          unit: "front",
          reasons: [{ kind: "full", gate: "sem", limit: 3, held: 2, asked: 2, ahead: 0 }],
        },
      },
    ]);
  });

  it("lets those behind take what is left beyond what those ahead want", () => {
    const gates = [gate("sem", "strict", 4), gate("other", "strict", 1, 1)];
    const units = [unit("front", { sem: 2, other: 1 }), unit("b", { sem: 2 }), unit("c", { sem: 1 })];
    const plan = decide(gates, units);
    expect(started(plan)).toEqual(["b"]);
    expect(kinds(plan, "c")).toEqual(["behind sem"]);
  });

  it("a front that needs two locks holds back both lines", () => {
    const gates = [gate("x", "strict", 1), gate("y", "strict", 1), gate("z", "strict", 1, 1)];
    const front = unit("front", { x: 1, y: 1, z: 1 });
    const plan = decide(gates, [front, unit("b", { x: 1 }), unit("c", { y: 1 })]);
    expect(started(plan)).toEqual([]);
    expect(kinds(plan, "front")).toEqual(["full z"]);
    expect(kinds(plan, "b")).toEqual(["behind x"]);
    expect([...gatesNamed(plan.waiting.get("c") as Reason[])]).toEqual(["y", "z"]);
  });

  it("a unit whose skip gate is full stands in no strict line", () => {
    const gates = [gate("runs", "skip", 1, 1), gate("lock", "strict", 1)];
    const plan = decide(gates, [unit("a", { runs: 1, lock: 1 }), unit("b", { lock: 1 })]);
    expect(kinds(plan, "a")).toEqual(["full runs"]);
    expect(started(plan)).toEqual(["b"]);
  });

  it("a unit that waits for a pool keeps its place in the strict line", () => {
    const gates = [gate("db", "bypass", 1, 1), gate("lock", "strict", 1)];
    const plan = decide(gates, [unit("a", { db: 1, lock: 1 }), unit("b", { lock: 1 })]);
    expect(kinds(plan, "b")).toEqual(["behind lock"]);
  });

  it("a lock that chose `skip` has no line", () => {
    const gates = [gate("lock", "skip", 1), gate("other", "strict", 1, 1)];
    const plan = decide(gates, [unit("a", { lock: 1, other: 1 }), unit("b", { lock: 1 })]);
    expect(started(plan)).toEqual(["b"]);
  });
});

describe("a plan after which another pass would admit more", () => {
  const gates = (held: number): Gate[] => [
    gate("s", "strict", 1),
    gate("k", "skip", 1, held),
    gate("t", "strict", 1, 1),
  ];
  const v = unit("v", { s: 1, k: 1, t: 1 });
  const u = unit("u", { s: 1 });

  it("says so: a unit that reserved finds its skip gate filled by those behind it", () => {
    const first = decide(gates(0), [v, u, unit("x", { k: 1 })]);
    expect(started(first)).toEqual(["x"]);
    expect(kinds(first, "u")).toEqual(["behind s"]);
    expect(first.more).toBe(true);
    const second = decide(gates(1), [v, u]);
    expect(started(second)).toEqual(["u"]);
    expect(second.more).toBe(false);
  });

  it("says nothing when the unit that reserved holds nobody back", () => {
    const plan = decide(gates(0), [v, unit("x", { k: 1 })]);
    expect(started(plan)).toEqual(["x"]);
    expect(plan.more).toBe(false);
  });

  it("says nothing when the skip gate is filled only by what is left to others, as it would do so for ever", () => {
    const workers = ["me", "other"].map((id) => ({ id, slots: 5, used: 0 }));
    const line = [v, u, unit("x", { k: 1 }, { workers: [1] })];
    const plan = decide(gates(0), line, { workers, me: 0 });
    expect(left(plan)).toEqual(["x"]);
    expect(plan.more).toBe(false);
  });

  it("says so when what was gathered at a pool is kept no longer, since a strict gate was filled", () => {
    const mark = { unit: "large", passed: 100, since: 0 };
    const large = unit("large", { db: 2, k: 1, s: 1 }, { mark });
    const small = unit("small", { db: 1 });
    const all = (held: number): Gate[] => [
      gate("db", "bypass", 2),
      gate("k", "skip", 1, 1),
      gate("s", "strict", 1, held),
    ];
    const first = decide(all(0), [large, small, u]);
    expect(started(first)).toEqual(["u"]);
    expect(first.more).toBe(true);
    expect(started(decide(all(1), [large, small]))).toEqual(["small"]);
  });
});

describe("a lane that is longer than the snapshot shows", () => {
  it("ends the walk before a unit nobody could see, when its last known unit could start", () => {
    const frontier = unit("last", { db: 1 }, { frontier: true });
    const plan = decide([gate("db", "skip", 5)], [unit("a", { db: 1 }), frontier, unit("z", { db: 2 })]);
    expect(started(plan)).toEqual(["a"]);
    expect([...plan.waiting.keys()]).toEqual([]);
    expect(plan.more).toBe(true);
  });

  it("is walked past when it is blocked, and is itself never reported", () => {
    const frontier = unit("last", { db: 1 }, { frontier: true });
    const plan = decide([gate("db", "skip", 1, 1), gate("x", "skip", 1)], [frontier, unit("z", { x: 1 })]);
    expect(started(plan)).toEqual(["z"]);
    expect(plan.waiting.size).toBe(0);
    expect(plan.more).toBe(false);
  });

  it("shuts its strict gates for everybody behind, since nobody counted who else stands there", () => {
    const frontier = unit("last", { lock: 1, full: 1 }, { frontier: true });
    const gates = [gate("lock", "strict", 9), gate("full", "strict", 1, 1), gate("open", "skip", 1)];
    const plan = decide(gates, [frontier, unit("y", { lock: 1 }), unit("z", { open: 1 })]);
    expect(plan.waiting.get("y")).toMatchObject([
      { kind: "behind", gate: "lock", front: { unit: "last", reasons: [] } },
    ]);
    expect(started(plan)).toEqual(["z"]);
  });

  it("shuts neither its skip gates nor its pools", () => {
    const frontier = unit("last", { cap: 1, db: 1, full: 1 }, { frontier: true });
    const gates = [gate("cap", "skip", 1), gate("db", "bypass", 1), gate("full", "strict", 1, 1)];
    const plan = decide(gates, [frontier, unit("z", { cap: 1, db: 1 })]);
    expect(started(plan)).toEqual(["z"]);
  });

  it("shuts nothing when it stands in no line itself", () => {
    const frontier = unit("last", { lock: 1, cap: 1 }, { frontier: true });
    const plan = decide(
      [gate("lock", "strict", 1), gate("cap", "skip", 1, 1)],
      [frontier, unit("z", { lock: 1 })],
    );
    expect(started(plan)).toEqual(["z"]);
  });

  it("is walked past when no worker could run it", () => {
    const frontier = unit("last", {}, { frontier: true, workers: [] });
    const workers = [{ id: "w", slots: 1, used: 0 }];
    const plan = decide([], [frontier, unit("z", {}, { workers: [0] })], { workers, me: 0 });
    expect(started(plan)).toEqual(["z"]);
    expect(plan.waiting.size).toBe(0);
  });

  it("nothing at or behind the horizon is decided", () => {
    const horizon = { rank: 1, priority: 0, at: 1, id: "b" };
    const plan = decide([], [unit("a", {}), unit("b", {}), unit("c", {})], { horizon });
    expect(started(plan)).toEqual(["a"]);
    expect(plan.waiting.size).toBe(0);
    expect(plan.more).toBe(true);
    expect(decide([], [unit("a", {})], { horizon }).more).toBe(false);
  });
});

describe("the worker that claims", () => {
  const free = { id: "free", slots: 1, used: 0 };
  const full = { id: "full", slots: 2, used: 2 };

  it("takes as many units as it has slots", () => {
    const units = [unit("a", {}, { workers: [0] }), unit("b", {}, { workers: [0] })];
    const plan = decide([], units, { workers: [free], me: 0 });
    expect(started(plan)).toEqual(["a"]);
    expect(plan.waiting.get("b")).toEqual([{ kind: "busy", workers: 1, slots: 1, ahead: 0 }]);
  });

  it("leaves a unit it does not serve, and that unit's slots, to the worker that does", () => {
    const units = [unit("theirs", { db: 1 }, { workers: [1] }), unit("mine", { db: 1 }, { workers: [0] })];
    const workers = [free, { id: "other", slots: 1, used: 0 }];
    const plan = decide([gate("db", "skip", 1)], units, { workers, me: 0 });
    expect(left(plan)).toEqual(["theirs"]);
    expect(started(plan)).toEqual([]);
    expect(kinds(plan, "mine")).toEqual(["full db"]);
    expect(plan.held.get("db")).toBe(0);
  });

  it("takes what another worker could run too, while it has slots itself", () => {
    const workers = [free, { id: "other", slots: 1, used: 0 }];
    const both = { workers: [1, 0] };
    const plan = decide([], [unit("a", {}, both), unit("b", {}, both), unit("c", {}, both)], {
      workers,
      me: 0,
    });
    expect(started(plan)).toEqual(["a"]);
    expect(left(plan)).toEqual(["b"]);
    expect(kinds(plan, "c")).toEqual(["busy"]);
  });

  it("tells how many wait ahead for one of the same workers", () => {
    const by = (...workers: number[]): Partial<Waiter> => ({ workers });
    const units = [
      unit("a", {}, by(1)),
      unit("b", {}, by(2)),
      unit("c", {}, { ...by(1), frontier: true }),
      unit("d", {}, by(1, 2)),
      unit("e", {}, by(2)),
      unit("f", {}, { ...by(2), ahead: { "": 7_000 } }),
    ];
    const plan = decide([], units, { workers: [free, full, full], me: 0 });
    const ahead = units.map(({ id }) =>
      plan.waiting.get(id)?.map((reason) => "ahead" in reason && reason.ahead),
    );
    expect(ahead).toEqual([[0], [0], undefined, [3], [2], [7_000]]);
  });

  it("passes a unit whose every worker is full: it says `busy` and holds nobody back", () => {
    const units = [
      unit("theirs", { lock: 1 }, { workers: [1] }),
      unit("mine", { lock: 1 }, { workers: [0] }),
    ];
    const plan = decide([gate("lock", "strict", 1)], units, { workers: [free, full], me: 0 });
    expect(plan.waiting.get("theirs")).toEqual([{ kind: "busy", workers: 1, slots: 2, ahead: 0 }]);
    expect(started(plan)).toEqual(["mine"]);
  });

  it("passes a unit that nobody alive serves: it says `noWorker`", () => {
    const nobody = unit("a", {}, { workers: [], queue: "stripe", name: "charge" });
    const plan = decide([], [nobody], { workers: [free], me: 0 });
    expect(plan.waiting.get("a")).toEqual([{ kind: "noWorker", queue: "stripe", name: "charge" }]);
  });

  it("names gates before workers: a unit at a full gate does not say `busy`", () => {
    const plan = decide([gate("db", "skip", 1, 1)], [unit("a", { db: 1 }, { workers: [1] })], {
      workers: [free, full],
      me: 0,
    });
    expect(kinds(plan, "a")).toEqual(["full db"]);
  });

  it("is nobody when a wait is only explained: whoever could start on any worker counts as admitted", () => {
    const units = [unit("a", {}, { workers: [1] }), unit("b", {}, { workers: [0] })];
    const plan = decide([], units, { workers: [free, { id: "other", slots: 1, used: 0 }] });
    expect(started(plan)).toEqual(["a", "b"]);
    expect(left(plan)).toEqual([]);
  });
});
