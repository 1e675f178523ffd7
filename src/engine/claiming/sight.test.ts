import { describe, expect, test } from "vitest";
import type { LaneSpec } from "../../store/lane.ts";
import type { GateRow, LaneMove, LaneRow, Scope, View } from "../../store/store.ts";
import type { Decision } from "./decide.ts";
import { CROWDED } from "./lane-moves.ts";
import { servesText } from "./serving.ts";
import { Sight } from "./sight.ts";

const NONE: ReadonlySet<string> = new Set();

const spec = (id: string, asks: Record<string, number>, task = "t", queue = "q"): LaneSpec => ({
  id,
  queue,
  task,
  asks: JSON.stringify(Object.entries(asks)),
});

const many = (count: number, make: (index: number) => LaneSpec): LaneSpec[] =>
  Array.from({ length: count }, (_, index) => make(index));

const row = (lane: LaneSpec, more: Partial<LaneRow> = {}): LaneRow => ({
  ...lane,
  rank: 100,
  state: "open",
  parked: null,
  head: { priority: 0, at: 1, id: lane.id },
  stamp: 1,
  mark: null,
  blocked: "[]",
  ...more,
});

const gate = (key: string, limit: number | null, more: Partial<GateRow> = {}): GateRow => ({
  key,
  limit,
  paused: false,
  line: "skip",
  leaseMs: null,
  locked: true,
  ...more,
});

type Look = ReturnType<Sight["scope"]>;

interface Pass {
  readonly lanes?: readonly LaneRow[];
  readonly gates?: readonly GateRow[];
  readonly beyond?: readonly LaneRow[];
  readonly moves?: readonly Partial<LaneMove>[];
  readonly unread?: readonly LaneRow[];
  readonly next?: readonly LaneRow[];
  readonly again?: readonly string[];
  /** Lanes with waiting units, and lanes with admitted units. */
  readonly waiting?: readonly string[];
  readonly admitted?: readonly string[];
  /** The queues of each live session. */
  readonly serving?: readonly (readonly string[])[];
}

/** One pass as the sight sees it: what it looked at, and the result. */
function learn(sight: Sight, look: Look, pass: Pass): boolean {
  const view: View = {
    now: 0,
    gates: pass.gates ?? [],
    usage: [],
    lanes: pass.lanes ?? [],
    heads: (pass.waiting ?? []).map((lane) => ({
      id: `of ${lane}`,
      lane,
      priority: 0,
      at: 1,
      goodUntil: null,
    })),
    prefetched: [],
    sessions: (pass.serving ?? []).map((queues, index) => ({
      id: `s${index}`,
      slots: 1,
      serves: servesText(queues, ["t"]),
    })),
    lost: [],
    beyond: pass.beyond ?? [],
  };
  const decision = {
    moves: { lanes: pass.moves ?? [] },
    plan: { admitted: (pass.admitted ?? []).map((lane) => ({ lane })), left: [] },
    unread: pass.unread ?? [],
    next: pass.next ?? [],
    again: pass.again ?? [],
  } as unknown as Decision;
  sight.learn(view, look as Scope, decision);
  return sight.hasNews;
}

const all = (): Sight => new Sight(["q"], () => true);
const ours = (): Sight => new Sight(["q"], ({ task }) => task === "t");
const ids = ({ lanes }: Look): string[] => lanes.map(({ id }) => id);
const wantOf = (look: Look, id: string): number | undefined =>
  look.lanes.find((lane) => lane.id === id)?.want;

describe("the gates of the lanes in sight", () => {
  const lane = spec("a", { cluster: 1, "queue:q": 1, "pool:tenant=acme": 2 });
  const keys = ["cluster", "pool:tenant=acme", "queue:q"];

  test("are locked alone while nothing is known of them; a gate per value brings its family, shared", () => {
    const sight = all();
    sight.notice([lane]);
    const { exclusive, shared } = sight.scope(NONE, 4);
    expect(exclusive).toEqual(keys);
    expect(shared).toEqual(["pool:tenant=*"]);
  });

  test("are shared once they are known to be unlimited, together with their family", () => {
    const sight = all();
    sight.notice([lane]);
    learn(sight, sight.scope(NONE, 4), { lanes: [row(lane)], gates: keys.map((key) => gate(key, -1)) });
    const { exclusive, shared } = sight.scope(NONE, 4);
    expect(exclusive).toEqual([]);
    expect(shared).toEqual(["cluster", "pool:tenant=*", "pool:tenant=acme", "queue:q"]);
  });

  test("are locked alone where they can bind: limited, unset, or paused", () => {
    const sight = all();
    sight.notice([lane]);
    const gates = [gate("cluster", 5), gate("pool:tenant=acme", null), gate("queue:q", -1, { paused: true })];
    learn(sight, sight.scope(NONE, 4), { lanes: [row(lane)], gates });
    expect(sight.scope(NONE, 4).exclusive).toEqual(keys);
  });

  test("are locked alone again as soon as a pass saw them bind", () => {
    const sight = all();
    sight.notice([lane]);
    const seen = (limit: number): Pass => ({
      lanes: [row(lane)],
      gates: keys.map((key) => gate(key, limit)),
    });
    learn(sight, sight.scope(NONE, 4), seen(-1));
    expect(sight.scope(NONE, 4).exclusive).toEqual([]);
    learn(sight, sight.scope(NONE, 4), seen(3));
    expect(sight.scope(NONE, 4).exclusive).toEqual(keys);
  });

  test("let claimers pass over each other's units only where some lane has none that can bind", () => {
    const sight = all();
    const free = spec("free", { "queue:free": 1 });
    sight.notice([lane]);
    const limited = { lanes: [row(lane)], gates: [...keys, "queue:free"].map((key) => gate(key, 3)) };
    learn(sight, sight.scope(NONE, 4), limited);
    expect(sight.scope(NONE, 4).sideBySide).toBe(false);
    sight.notice([free]);
    learn(sight, sight.scope(NONE, 4), { lanes: [row(lane), row(free)], gates: [gate("queue:free", -1)] });
    expect(sight.scope(NONE, 4).sideBySide).toBe(true);
  });
});

describe("lanes in sight", () => {
  test("are all looked at up to sixty-four, and then the best of them", () => {
    const sight = all();
    const lanes = many(100, (index) => spec(`l${index}`, { [`pool:p${index}`]: 1 }));
    sight.notice(lanes.slice(0, 64));
    expect(ids(sight.scope(NONE, 1))).toHaveLength(64);
    expect(sight.isCrowded).toBe(true);
    const rows = lanes.map((lane, index) => row(lane, { head: { priority: index, at: 1, id: lane.id } }));
    learn(sight, sight.scope(NONE, 1), { lanes: rows });
    const best = ids(sight.scope(NONE, 1));
    expect(best).toHaveLength(64);
    expect([best[0], best.at(-1)]).toEqual(["l99", "l36"]);
  });

  test("that have just finished something are always looked at", () => {
    const sight = all();
    const lanes = many(100, (index) => spec(`l${index}`, { [`pool:p${index}`]: 1 }));
    const rows = lanes.map((lane, index) => row(lane, { head: { priority: index, at: 1, id: lane.id } }));
    sight.notice(lanes);
    learn(sight, sight.scope(NONE, 1), { lanes: rows });
    const chosen = ids(sight.scope(new Set(["l0", "l7"]), 1));
    expect(chosen.slice(0, 2)).toEqual(["l0", "l7"]);
    expect(chosen).toHaveLength(66);
  });

  test("are a crowd from more than forty-eight on", () => {
    const sight = all();
    sight.notice(many(CROWDED, (index) => spec(`l${index}`, {})));
    expect(sight.isCrowded).toBe(false);
    sight.notice([spec("one more", {})]);
    expect(sight.isCrowded).toBe(true);
  });

  test("leave it when they were not found, went idle, or were parked", () => {
    const sight = all();
    const lanes = ["gone", "idle", "parked", "stays"].map((id) => spec(id, { "queue:q": 1 }));
    sight.notice(lanes);
    const seen = lanes.slice(1).map((lane) => row(lane));
    learn(sight, sight.scope(NONE, 1), {
      lanes: seen,
      moves: [
        { lane: "idle", state: "idle", parked: null },
        { lane: "parked", state: "parked", parked: "pool:x" },
      ],
    });
    expect(ids(sight.scope(NONE, 1))).toEqual(["stays"]);
  });

  test("come from beyond and from what could not be read, and news of them is worth another look", () => {
    const sight = all();
    const beyond = row(spec("beyond", { "queue:q": 1 }));
    const unread = row(spec("unread", { "queue:q": 1 }));
    expect(learn(sight, sight.scope(NONE, 1), { beyond: [beyond], unread: [unread] })).toBe(true);
    expect(ids(sight.scope(NONE, 1)).sort()).toEqual(["beyond", "unread"]);
    const look = sight.scope(NONE, 1);
    expect(learn(sight, look, { lanes: [beyond, unread] })).toBe(false);
  });

  test("whose place becomes known are worth another look, too, and only once", () => {
    const sight = all();
    const lanes = many(100, (index) => spec(`l${index}`, { [`pool:p${index}`]: 1 }));
    sight.notice(lanes);
    const look = sight.scope(NONE, 1);
    const seen = new Set(ids(look));
    const rows = lanes.map((lane) => row(lane));
    const pass = {
      lanes: rows.filter(({ id }) => seen.has(id)),
      beyond: rows.filter(({ id }) => !seen.has(id)).slice(0, 32),
    };
    expect(learn(sight, look, pass)).toBe(true);
    const again = sight.scope(NONE, 1);
    learn(sight, again, { lanes: rows.filter(({ id }) => ids(again).includes(id)) });
    const last = sight.scope(NONE, 1);
    expect(learn(sight, last, { lanes: rows.filter(({ id }) => ids(last).includes(id)) })).toBe(false);
  });

  test("bring their queues along, so that more of them are looked for there", () => {
    const sight = all();
    sight.notice([spec("a", {}, "t", "other")]);
    expect(sight.scope(NONE, 1).queues).toEqual(["q", "other"]);
  });
});

describe("lanes that are none of our business", () => {
  const theirs = spec("theirs", { "queue:q": 1, "pool:theirs": 1 }, "other");
  const mine = spec("mine", { "queue:q": 1, "pool:mine": 1 });
  const pass = (limit: number): Pass => ({
    lanes: [row(theirs), row(mine)],
    gates: [gate("queue:q", limit), gate("pool:theirs", 1), gate("pool:mine", 1)],
  });

  test("are put aside when no gate of ours that can bind is theirs, too", () => {
    const sight = ours();
    sight.notice([theirs, mine]);
    learn(sight, sight.scope(NONE, 1), pass(-1));
    const look = sight.scope(NONE, 1);
    expect([ids(look), look.without]).toEqual([["mine"], ["theirs"]]);
    expect(look.exclusive).toEqual(["pool:mine"]);
  });

  test("stay in sight while they compete with us", () => {
    const sight = ours();
    sight.notice([theirs, mine]);
    learn(sight, sight.scope(NONE, 1), pass(5));
    const look = sight.scope(NONE, 1);
    expect([ids(look).sort(), look.without]).toEqual([["mine", "theirs"], []]);
  });

  test("stay aside from pass to pass, so that they do not stand in the way of ours again and again", () => {
    const sight = ours();
    sight.notice([theirs, mine]);
    learn(sight, sight.scope(NONE, 1), pass(-1));
    for (let round = 0; round < 3; round += 1) {
      const look = sight.scope(NONE, 1);
      expect(look.without).toEqual(["theirs"]);
      learn(sight, look, { lanes: [row(mine)], gates: [gate("queue:q", -1)] });
    }
  });

  test("are looked for again when a gate that we share begins to bind", () => {
    const sight = ours();
    sight.notice([theirs, mine]);
    learn(sight, sight.scope(NONE, 1), pass(-1));
    learn(sight, sight.scope(NONE, 1), { lanes: [row(mine)], gates: [gate("queue:q", 2)] });
    expect(sight.scope(NONE, 1).without).toEqual([]);
  });

  test("are looked at once when somebody tells of them", () => {
    const sight = ours();
    sight.notice([theirs, mine]);
    learn(sight, sight.scope(NONE, 1), pass(-1));
    sight.notice([theirs]);
    expect(ids(sight.scope(NONE, 1)).sort()).toEqual(["mine", "theirs"]);
    expect(sight.scope(NONE, 1).without).toEqual([]);
  });
});

describe("how many units of a lane are looked at", () => {
  const lane = spec("a", { "queue:q": 1, "pool:gpu": 2 });

  const want = (limits: Record<string, number>, budget: number): number | undefined => {
    const sight = all();
    sight.notice([lane]);
    const gates = Object.entries(limits).map(([key, limit]) => gate(key, limit));
    learn(sight, sight.scope(NONE, budget), { lanes: [row(lane)], gates });
    return wantOf(sight.scope(NONE, budget), "a");
  };

  test("is what we could run, and one more to know whether the lane goes on", () => {
    expect(want({ "queue:q": -1, "pool:gpu": -1 }, 4)).toBe(5);
  });

  test("is bounded by the most that its gates could ever hold", () => {
    expect(want({ "queue:q": 3, "pool:gpu": -1 }, 10)).toBe(4);
    expect(want({ "queue:q": 8, "pool:gpu": 5 }, 10)).toBe(3);
  });

  test("is two at least, so that somebody stands at the front of every lane", () => {
    expect(want({ "queue:q": 0, "pool:gpu": -1 }, 10)).toBe(2);
    expect(want({ "queue:q": -1, "pool:gpu": -1 }, 0)).toBe(2);
  });

  test("is two where nothing flowed when we last looked, unless there are but few lanes", () => {
    const lanes = many(5, (index) => spec(`l${index}`, { "queue:q": 1 }));
    const names = lanes.map(({ id }) => id);
    const wants = (count: number): (number | undefined)[] => {
      const sight = all();
      sight.notice(lanes.slice(0, count));
      const seen = { lanes: lanes.slice(0, count).map((each) => row(each)), gates: [gate("queue:q", 9)] };
      learn(sight, sight.scope(NONE, 6), { ...seen, waiting: names, admitted: ["l1"] });
      const look = sight.scope(NONE, 6);
      return names.slice(0, count).map((name) => wantOf(look, name));
    };
    expect(wants(5)).toEqual([2, 7, 2, 2, 2]);
    expect(wants(4)).toEqual([7, 7, 7, 7]);
  });
});

describe("gates that lanes are parked on", () => {
  test("are looked at once, as the poll has told", () => {
    const sight = all();
    sight.parkedOn(["pool:x", "pool:t=1"]);
    const look = sight.scope(NONE, 1);
    expect([look.exclusive, look.shared]).toEqual([["pool:t=1", "pool:x"], ["pool:t=*"]]);
    expect(look.parkedOn).toEqual(["pool:t=1", "pool:x"]);
    expect(sight.scope(NONE, 1).exclusive).toEqual([]);
  });

  test("are looked at whenever we lock them for other reasons, since nobody tells who is parked there", () => {
    const sight = all();
    sight.notice([spec("a", { cluster: 1, "queue:q": 1, "pool:x": 1 })]);
    const look = sight.scope(NONE, 1);
    expect(look.exclusive).toEqual(["cluster", "pool:x", "queue:q"]);
    expect(look.parkedOn).toEqual(["cluster", "pool:x", "queue:q"]);
  });

  test("are looked at when they have no limit any more: who is parked there may go", () => {
    const sight = all();
    const lane = spec("a", { "pool:x": 1 });
    sight.notice([lane]);
    learn(sight, sight.scope(NONE, 1), { lanes: [row(lane)], gates: [gate("pool:x", -1)], waiting: ["a"] });
    const look = sight.scope(NONE, 1);
    expect([look.exclusive, look.parkedOn]).toEqual([[], ["pool:x"]]);
  });

  test("are looked at in the queues of other live workers too: a slot that we free may be theirs", () => {
    const sight = all();
    expect(sight.scope(NONE, 1).elsewhere).toEqual([]);
    learn(sight, sight.scope(NONE, 1), { serving: [["q"], ["r", "q"], ["s"]] });
    const look = sight.scope(NONE, 1);
    expect([look.queues, look.elsewhere]).toEqual([["q"], ["r", "s"]]);
    learn(sight, look, { serving: [["q"]] });
    expect(sight.scope(NONE, 1).elsewhere).toEqual([]);
  });

  test("are looked at once more when a pass could not show all who may fit", () => {
    const sight = all();
    expect(learn(sight, sight.scope(NONE, 1), { again: ["pool:x"] })).toBe(true);
    expect(sight.scope(NONE, 1).parkedOn).toEqual(["pool:x"]);
    expect(sight.scope(NONE, 1).parkedOn).toEqual([]);
  });
});
