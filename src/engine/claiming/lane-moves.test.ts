import { describe, expect, test } from "vitest";
import type { Plan, Waiter } from "../../core/gate/admit.ts";
import type { Reason } from "../../core/gate/reason.ts";
import type { HeadRow, LaneMove, LaneRow, Scope, View } from "../../store/store.ts";
import { CROWDED, laneMoves } from "./lane-moves.ts";

const KEYED = "pool:k=1";

const full = (gate: string): Reason => ({ kind: "full", gate, limit: 1, held: 1, asked: 1, ahead: 0 });

const lane = (more: Partial<LaneRow> = {}): LaneRow => ({
  id: "lane",
  queue: "q",
  task: "t",
  asks: JSON.stringify([
    ["cluster", 1],
    [KEYED, 1],
    ["queue:q", 1],
  ]),
  rank: 100,
  state: "open",
  parked: null,
  head: { priority: 0, at: 1, id: "a" },
  stamp: 7,
  mark: null,
  blocked: "[]",
  ...more,
});

const unit = (id: string, at = 1): HeadRow => ({ id, lane: "lane", priority: 0, at, goodUntil: null });

const scope: Scope = {
  session: "me",
  finished: [],
  started: [],
  lanes: [],
  without: [],
  exclusive: [],
  shared: [],
  intake: true,
  queues: [],
  perQueue: 32,
  parkedOn: [],
  elsewhere: [],
  sideBySide: false,
  prefetching: 0,
};

interface Seen {
  readonly lane?: LaneRow;
  readonly units?: readonly HeadRow[];
  readonly cut?: boolean;
  readonly crowd?: number;
  readonly waiting?: Record<string, readonly Reason[]>;
  readonly marks?: Plan["marks"];
  readonly gone?: readonly string[];
  /** Units that another worker may start. */
  readonly left?: readonly string[];
  /** Free slots of the lane's own gate. */
  readonly free?: number;
  readonly rehead?: boolean;
  readonly scope?: Partial<Scope>;
}

const nobody: readonly Waiter[] = [];

/** The moves of one lane among `crowd` lanes. */
function moves(seen: Seen): LaneMove[] {
  const row = seen.lane ?? lane();
  const others = Array.from({ length: (seen.crowd ?? 1) - 1 }, (_, index) => lane({ id: `other${index}` }));
  const view: View = {
    now: 1_000,
    gates: [],
    usage: [],
    lanes: [row],
    heads: [],
    prefetched: [],
    sessions: [],
    lost: [],
    beyond: others,
  };
  return laneMoves({
    view,
    scope: { ...scope, ...seen.scope },
    plan: {
      admitted: nobody,
      left: (seen.left ?? []).map((id) => ({ id }) as Waiter),
      waiting: new Map(Object.entries(seen.waiting ?? {})),
      marks: seen.marks ?? new Map(),
      held: new Map(),
      free: new Map([[KEYED, seen.free ?? 0]]),
      unseen: new Set(),
      more: false,
      postponed: false,
    },
    standing: [{ lane: row, units: seen.units ?? [], cut: seen.cut ?? false }],
    gone: new Set(seen.gone),
    rehead: seen.rehead ?? false,
  });
}

const crowd = CROWDED + 1;
const blockedAt = (...gates: readonly string[]): Seen => ({
  units: [unit("a")],
  waiting: { a: gates.map(full) },
});

describe("a lane that waits", () => {
  test("records the gates in its way, once and in order", () => {
    expect(moves(blockedAt("queue:q", KEYED, "queue:q"))).toEqual([
      {
        lane: "lane",
        stamp: 7,
        state: "open",
        parked: null,
        mark: null,
        blocked: JSON.stringify([KEYED, "queue:q"]),
        head: null,
      },
    ]);
  });

  test("parks on its own gate when there are too many lanes to look at", () => {
    expect(moves({ ...blockedAt("cluster", KEYED), crowd })).toMatchObject([
      { state: "parked", parked: KEYED, blocked: JSON.stringify(["cluster", KEYED]) },
    ]);
  });

  test("does not park while all lanes can be looked at", () => {
    expect(moves({ ...blockedAt(KEYED), crowd: CROWDED })).toMatchObject([{ state: "open", parked: null }]);
  });

  test("does not park on a gate that the whole line waits for", () => {
    expect(moves({ ...blockedAt("cluster", "queue:q"), crowd })).toMatchObject([
      { state: "open", parked: null },
    ]);
  });

  test("does not park because its workers are busy", () => {
    const busy: Reason = { kind: "busy", workers: 1, slots: 1, ahead: 0 };
    expect(moves({ units: [unit("a")], waiting: { a: [busy] }, crowd })).toEqual([]);
  });

  test("waits for nothing any more once its first unit has gone and the next was not decided", () => {
    const was = JSON.stringify([KEYED]);
    const seen = { lane: lane({ blocked: was }), units: [unit("a"), unit("b", 2)], gone: ["a"] };
    // Undecided: what is known about its wait stays unchanged.
    expect(moves(seen)).toEqual([]);
    expect(moves({ ...seen, waiting: { b: [full("queue:q")] } })).toMatchObject([
      { blocked: JSON.stringify(["queue:q"]) },
    ]);
    expect(moves({ ...seen, units: [unit("a")] })).toMatchObject([{ blocked: "[]" }]);
  });
});

describe("a parked lane", () => {
  const parked = lane({ state: "parked", parked: KEYED, blocked: JSON.stringify([KEYED]) });

  test("is opened when another worker may start it, and goes idle when its last unit has gone", () => {
    expect(moves({ lane: parked, units: [unit("a")], left: ["a"], free: 1 })).toMatchObject([
      { state: "open", parked: null },
    ]);
    expect(moves({ lane: parked, units: [unit("a")], gone: ["a"] })).toMatchObject([
      { state: "idle", parked: null },
    ]);
  });

  test("that was not decided stays parked while its gate is full, and is in sight again when it has room", () => {
    expect(moves({ lane: parked, units: [unit("a")] })).toEqual([]);
    expect(moves({ lane: parked, units: [unit("a")], free: 1 })).toMatchObject([
      { state: "open", parked: null },
    ]);
  });

  test("that begins to move is opened while its gate has room for more, and stays parked when it is full", () => {
    const begun = { lane: parked, units: [unit("a"), unit("b", 2)], gone: ["a"] };
    expect(moves({ ...begun, free: 1 })).toMatchObject([{ state: "open", parked: null }]);
    expect(moves({ ...begun, free: 0, crowd })).toMatchObject([{ state: "parked", parked: KEYED }]);
  });

  test("stays where it is while its gate is in its way, even when there is room to look at it", () => {
    expect(moves({ lane: parked, ...blockedAt(KEYED) })).toEqual([]);
  });

  test("moves over to the gate that is in its way now", () => {
    expect(moves({ lane: parked, ...blockedAt("pool:k=2") })).toMatchObject([
      { state: "parked", parked: "pool:k=2" },
    ]);
  });

  test("is opened when only the whole line's gates are in its way", () => {
    expect(moves({ lane: parked, ...blockedAt("queue:q") })).toMatchObject([{ state: "open", parked: null }]);
  });
});

describe("an empty lane", () => {
  test("goes idle only in a crowd, and only when it is sure to be empty", () => {
    expect(moves({ crowd })).toMatchObject([{ state: "idle", parked: null, head: null }]);
    expect(moves({ crowd: 1 })).toEqual([]);
    expect(moves({ crowd, cut: true })).toEqual([]);
    expect(moves({ crowd, scope: { sideBySide: true } })).toEqual([]);
  });

  test("does not stay parked", () => {
    const parked = lane({ state: "parked", parked: KEYED });
    expect(moves({ lane: parked })).toMatchObject([{ state: "idle", parked: null }]);
    expect(moves({ lane: parked, cut: true })).toMatchObject([{ state: "open", parked: null }]);
  });

  test("that is idle already is left alone, and opened when somebody stands in it after all", () => {
    expect(moves({ lane: lane({ state: "idle" }), crowd })).toEqual([]);
    expect(moves({ lane: lane({ state: "idle" }), units: [unit("a")] })).toMatchObject([{ state: "open" }]);
  });
});

describe("the head of a lane", () => {
  const next = { units: [unit("a"), unit("b", 2)], gone: ["a"] };
  const corrected = { priority: 0, at: 2, id: "b" };

  test("is corrected in a crowd, when it is time to, and when the lane changes its state", () => {
    expect(moves({ ...next, crowd })).toMatchObject([{ head: corrected }]);
    expect(moves({ ...next, rehead: true })).toMatchObject([{ head: corrected }]);
    const parked = lane({ state: "parked", parked: KEYED });
    expect(moves({ ...next, lane: parked, free: 1 })).toMatchObject([{ state: "open", head: corrected }]);
  });

  test("is left alone otherwise: it may be early", () => {
    expect(moves(next)).toEqual([]);
  });

  test("is not known where units that others have in hand were passed over", () => {
    expect(moves({ ...next, crowd, scope: { sideBySide: true } })).toEqual([]);
  });

  test("is not written again when it is right", () => {
    expect(moves({ units: [unit("a")], crowd, rehead: true })).toEqual([]);
  });
});

describe("the mark of a lane", () => {
  const mark = { unit: "a", passed: 3, since: 10 };

  test("is written when it changed", () => {
    const passed = { ...mark, passed: 4 };
    const seen = { lane: lane({ mark }), units: [unit("a")], marks: new Map([["lane", passed]]) };
    expect(moves(seen)).toMatchObject([{ mark: passed }]);
    expect(moves({ ...seen, marks: new Map([["lane", mark]]) })).toEqual([]);
  });

  test("is kept for the unit it names, and lapses with it", () => {
    const units = [unit("a"), unit("b", 2)];
    expect(moves({ lane: lane({ mark }), units })).toEqual([]);
    expect(moves({ lane: lane({ mark }), units, gone: ["a"] })).toMatchObject([{ mark: null }]);
    expect(moves({ lane: lane({ mark }) })).toMatchObject([{ mark: null }]);
  });
});
