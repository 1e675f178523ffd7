import { describe, expect, test } from "vitest";
import type { Plan } from "../../core/gate/admit.ts";
import type { Reason } from "../../core/gate/reason.ts";
import type { LaneMove, LaneRow, View } from "../../store/store.ts";
import { againOf, nextOf } from "./next.ts";

const GATE = "tag:shared";

const lane = (id: string, more: Partial<LaneRow> & { slots?: number } = {}): LaneRow => ({
  id,
  queue: "q",
  task: "t",
  asks: JSON.stringify([
    ["queue:q", 1],
    [GATE, more.slots ?? 1],
  ]),
  rank: 100,
  state: "parked",
  parked: GATE,
  head: { priority: 0, at: 1, id: `unit of ${id}` },
  stamp: 1,
  mark: null,
  blocked: "[]",
  ...more,
});

interface Seen {
  /** Slots of the gate that are neither held nor kept for a unit. */
  readonly free: number;
  readonly named?: readonly LaneRow[];
  readonly parked?: readonly LaneRow[];
  readonly hidden?: readonly LaneRow[];
  readonly gone?: readonly string[];
  readonly moves?: readonly Partial<LaneMove>[];
  readonly waiting?: Record<string, readonly Reason[]>;
  readonly unseen?: readonly string[];
}

function outcome({
  free,
  named = [],
  parked = [],
  hidden = [],
  ...seen
}: Seen): Parameters<typeof nextOf>[0] {
  const view: View = {
    now: 0,
    gates: [{ key: GATE, limit: 5, paused: false, line: "skip", leaseMs: null, locked: true }],
    usage: [],
    lanes: named,
    heads: [],
    prefetched: [],
    sessions: [],
    lost: [],
    beyond: [],
    parked,
    hidden,
  };
  const plan: Plan = {
    admitted: [],
    left: [],
    waiting: new Map(Object.entries(seen.waiting ?? {})),
    marks: new Map(),
    held: new Map(),
    free: new Map([[GATE, free]]),
    unseen: new Set(seen.unseen),
    more: false,
    postponed: false,
  };
  const standing = named.map((row) => ({
    lane: row,
    units: [{ ...row.head, lane: row.id, goodUntil: null }],
    cut: false,
  }));
  return { view, standing, plan, gone: new Set(seen.gone), moves: (seen.moves ?? []) as LaneMove[] };
}

const ids = (lanes: readonly LaneRow[]): string[] => lanes.map(({ id }) => id);

describe("the parked lanes that a pass looks at next", () => {
  test("are the first of them, and no more than slots are free", () => {
    const parked = [lane("c", { head: { priority: 0, at: 3, id: "c" } }), lane("a"), lane("b")];
    expect(ids(nextOf(outcome({ free: 2, parked })))).toEqual(["a", "b"]);
    expect(nextOf(outcome({ free: 0, parked }))).toEqual([]);
  });

  test("are not those that this pass has put in sight: they take no slot from those who are still to be looked at", () => {
    const opened = lane("opened");
    const seen = {
      free: 1,
      named: [opened],
      parked: [lane("later", { head: { priority: 0, at: 2, id: "z" } })],
    };
    const moves = [{ lane: "opened", state: "open" as const, parked: null }];
    expect(ids(nextOf(outcome({ ...seen, moves })))).toEqual(["later"]);
    expect(ids(nextOf(outcome(seen)))).toEqual(["opened"]);
  });

  test("are none where lanes in sight wait for the whole line, and could take what is free", () => {
    const open = lane("open", { state: "open", parked: null });
    const full: Reason = { kind: "full", gate: "queue:q", limit: 1, held: 1, asked: 1, ahead: 0 };
    const waiting = { "unit of open": [full] };
    expect(nextOf(outcome({ free: 1, named: [open], parked: [lane("a")], waiting }))).toEqual([]);
    expect(ids(nextOf(outcome({ free: 2, named: [open], parked: [lane("a")], waiting })))).toEqual(["a"]);
  });

  test("are all that somebody was passed over for", () => {
    const parked = [lane("a"), lane("b"), lane("large", { slots: 4 })];
    expect(ids(nextOf(outcome({ free: 1, parked, unseen: [GATE] })))).toEqual(["a", "b", "large"]);
  });
});

describe("a gate", () => {
  const taking = { named: [lane("taker")], gone: ["unit of taker"], hidden: [lane("cut off")] };

  test("is looked at once more when a part of it was taken and its list was cut: who fits into the rest was not shown", () => {
    expect(againOf(outcome({ free: 1, ...taking }))).toEqual([GATE]);
  });

  test("is not where nothing was taken, nothing is left, or its list was complete", () => {
    expect(againOf(outcome({ free: 1, ...taking, gone: [] }))).toEqual([]);
    expect(againOf(outcome({ free: 0, ...taking }))).toEqual([]);
    expect(againOf(outcome({ free: 1, ...taking, hidden: [] }))).toEqual([]);
  });
});
