import { describe, expect, test } from "vitest";
import { bornAs } from "../core/gate/kind.ts";
import { servesText } from "../engine/claiming/serving.ts";
import type {
  EventRow,
  GateInfo,
  HeadRow,
  HolderRow,
  LaneRow,
  SessionRow,
  TaskRow,
  Usage,
  WaitView,
} from "../store/store.ts";
import { explainWait, timesInLine } from "./explain.ts";

const NOW = 100_000;
const ASKS = { cluster: 1, "queue:q": 1 };
const text = (asks: Record<string, number>): string => JSON.stringify(Object.entries(asks));

const gate = (key: string, limit: number | null, more: Partial<GateInfo> = {}): GateInfo => ({
  key,
  limit,
  declared: limit,
  perValue: false,
  paused: false,
  line: bornAs(key).line,
  leaseMs: null,
  setBy: null,
  setAt: null,
  ...more,
});

const task = (more: Partial<TaskRow> = {}): TaskRow => ({
  id: "me",
  name: "t",
  queue: "q",
  lane: "mine",
  asks: text(ASKS),
  priority: 0,
  state: "waiting",
  input: "{}",
  options: "{}",
  key: null,
  attempt: 0,
  losses: 0,
  createdAt: 0,
  at: 50,
  since: 50,
  session: null,
  epoch: null,
  goodUntil: null,
  holds: false,
  progress: null,
  body: null,
  ...more,
});

const lane = (id: string, asks: Record<string, number> = ASKS, more: Partial<LaneRow> = {}): LaneRow => ({
  id,
  queue: "q",
  task: "t",
  asks: text(asks),
  rank: 100,
  state: "open",
  parked: null,
  head: { priority: 0, at: 0, id: "" },
  stamp: 1,
  mark: null,
  blocked: "[]",
  ...more,
});

const head = (id: string, of: string, at: number): HeadRow => ({
  id,
  lane: of,
  priority: 0,
  at,
  goodUntil: null,
});

const session = (id: string, slots: number, tasks = ["t"]): SessionRow => ({
  id,
  slots,
  serves: servesText(["q"], tasks),
});

const usage = (
  of: string,
  units: number,
  more: Partial<Usage> & { gates?: Record<string, number> } = {},
): Usage => {
  const { gates = ASKS, ...rest } = more;
  return { lane: of, asks: text(gates), session: "s1", held: true, lost: false, units, ...rest };
};

const holder = (id: string, of: string, since: number): HolderRow => ({
  id,
  name: "t",
  lane: of,
  session: "s1",
  since,
  held: true,
});

const view = (more: Partial<WaitView> = {}): WaitView => ({
  now: NOW,
  task: task(),
  rank: 100,
  aside: null,
  apps: [],
  gates: [gate("cluster", -1), gate("queue:q", -1)],
  usage: [],
  lanes: [lane("mine")],
  heads: [head("me", "mine", 50)],
  sessions: [session("s1", 4)],
  holders: [],
  ahead: [],
  aheadAt: aheadAt(more.ahead ?? []),
  before: 0,
  rivals: [],
  ...more,
});

function aheadAt(ahead: WaitView["ahead"]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { asks, units } of ahead)
    for (const [key] of JSON.parse(asks) as [string, number][]) counts[key] = (counts[key] ?? 0) + units;
  return counts;
}

describe("why a task waits", () => {
  test("is nothing at all when the next pass starts it", () => {
    const { reasons, sentences, state } = explainWait(view());
    expect([reasons, sentences, state]).toEqual([[], [], "waiting"]);
  });

  test("is a full gate, with all who hold it, what they hold and since when", () => {
    const { reasons, sentences } = explainWait(
      view({
        gates: [gate("cluster", -1), gate("queue:q", 2)],
        usage: [usage("mine", 1), usage("other", 1, { gates: { "queue:q": 1 } })],
        holders: [holder("a", "mine", NOW - 5_000), holder("b", "other", NOW - 1_000)],
        ahead: [{ lane: "mine", asks: text(ASKS), units: 12 }],
      }),
    );
    expect(reasons).toEqual([
      {
        kind: "full",
        gate: "queue:q",
        limit: 2,
        held: 2,
        asked: 1,
        ahead: 12,
        holders: [
          { unit: "a", name: "t", slots: 1, session: "s1", since: NOW - 5_000 },
          { unit: "b", name: "t", slots: 1, session: "s1", since: NOW - 1_000 },
        ],
      },
    ]);
    expect(sentences[0]?.text).toMatch(
      /^queue "q" is full: 2 of 2 slots held \(by a t for 5s, b t for 1s\), 12/,
    );
    // Twelve units ahead are not shown, so no limit is known to be enough.
    expect(sentences[0]?.remedies).toEqual([]);
  });

  test("does not name those as holders who hold nothing of that gate", () => {
    const { reasons } = explainWait(
      view({
        gates: [gate("cluster", -1), gate("queue:q", 1)],
        usage: [usage("mine", 1), usage("elsewhere", 1, { gates: { cluster: 1 } })],
        holders: [holder("a", "mine", 0), holder("x", "elsewhere", 0), holder("y", "unknown", 0)],
      }),
    );
    expect(reasons).toMatchObject([{ gate: "queue:q", holders: [{ unit: "a" }] }]);
  });

  test("is every gate in its way, not only the first", () => {
    const { reasons, sentences } = explainWait(
      view({
        gates: [gate("cluster", 1), gate("queue:q", 5, { paused: true })],
        usage: [usage("mine", 1)],
      }),
    );
    // Most units ask for the cluster. A slot freed there first would go to another unit.
    expect(reasons.map(({ kind }) => kind)).toEqual(["paused", "full"]);
    expect(sentences.map(({ remedies }) => remedies)).toEqual([
      [{ action: "resumeQueue", queue: "q" }],
      [{ action: "setLimit", gate: "cluster", limit: 2 }],
    ]);
  });

  test.each(["pool", "tag"])(
    "is the family's limit of 0 when a value of a %s has none of its own, whether it is held or not",
    (kind) => {
      const asks = { ...ASKS, [`${kind}:tenant=acme`]: 1 };
      const remediesAt = (held: number) => {
        const seen = view({
          task: task({ asks: text(asks) }),
          lanes: [lane("mine", asks)],
          gates: [
            gate("cluster", -1),
            gate("queue:q", -1),
            gate(`${kind}:tenant=acme`, 0, { declared: null }),
            gate(`${kind}:tenant=*`, 0, { declared: 1, setBy: "ann" }),
          ],
          usage: held > 0 ? [usage("mine", held, { asks: text(asks) })] : [],
        });
        const { sentences } = explainWait(seen);
        expect(sentences.map((each) => each.text)).toEqual([
          expect.stringMatching(`^${kind} "tenant=\\*" is paused by its limit of 0`),
        ]);
        return sentences.flatMap(({ remedies }) => remedies);
      };
      expect(remediesAt(0)).toEqual([{ action: "resetLimit", gate: `${kind}:tenant=*` }]);
      expect(remediesAt(1)).toEqual([{ action: "setLimit", gate: `${kind}:tenant=*`, limit: 2 }]);
    },
  );

  test("is a family's limit of 0 once, with one command, if two values need it", () => {
    const values = ["a", "b"].map((value) => gate(`pool:tenant=${value}`, 0, { declared: null }));
    const gates = [...values, gate("pool:tenant=*", 0, { declared: 2, setBy: "ann" })];
    const asks = text({ "pool:tenant=a": 1, "pool:tenant=b": 3 });
    expect(
      explainWait(view({ task: task({ asks }), lanes: [], gates })).sentences.map(({ remedies }) => remedies),
    ).toEqual([[{ action: "setLimit", gate: "pool:tenant=*", limit: 3 }]]);
  });

  test("is not what a lost holder held", () => {
    const seen = view({
      gates: [gate("cluster", -1), gate("queue:q", 1)],
      usage: [usage("mine", 1, { lost: true })],
    });
    expect(explainWait(seen).reasons).toEqual([]);
  });

  test("is a gate without a limit, or one that is smaller than what it asks", () => {
    const pool = { ...ASKS, "pool:gpu": 3 };
    const seen = (limit: number | null): WaitView =>
      view({
        task: task({ asks: text(pool) }),
        lanes: [lane("mine", pool)],
        gates: [gate("cluster", -1), gate("queue:q", -1), gate("pool:gpu", limit)],
      });
    expect(explainWait(seen(null)).reasons).toMatchObject([{ kind: "unset", gate: "pool:gpu" }]);
    expect(explainWait(seen(2)).reasons).toMatchObject([{ kind: "never", limit: 2, asked: 3 }]);
    expect(explainWait(seen(3)).reasons).toEqual([]);
  });

  test("is that no live worker knows it", () => {
    const { reasons } = explainWait(view({ sessions: [session("s1", 4, ["other"])] }));
    expect(reasons).toEqual([{ kind: "noWorker", queue: "q", name: "t" }]);
  });

  test("is that all workers are busy, behind as many as wait for the same workers", () => {
    const seen = view({
      usage: [usage("mine", 4)],
      lanes: [
        lane("mine"),
        lane("blocked", { ...ASKS, "pool:x": 1 }),
        lane("foreign", ASKS, { task: "other" }),
      ],
      heads: [head("first", "mine", 1), head("b", "blocked", 2), head("f", "foreign", 3)],
      gates: [gate("cluster", -1), gate("queue:q", -1), gate("pool:x", 0)],
      ahead: [
        { lane: "mine", asks: text(ASKS), units: 40 },
        { lane: "blocked", asks: text({ ...ASKS, "pool:x": 1 }), units: 7 },
        { lane: "foreign", asks: text(ASKS), units: 5 },
      ],
    });
    expect(explainWait(seen).reasons).toEqual([{ kind: "busy", workers: 1, slots: 4, ahead: 40 }]);
  });

  test("is who goes first: a task of a better place takes the last slot", () => {
    const seen = (at: number): WaitView =>
      view({
        gates: [gate("cluster", -1), gate("queue:q", 1)],
        lanes: [lane("mine"), lane("other", { "queue:q": 1 })],
        heads: [head("me", "mine", 50), head("first", "other", at)],
      });
    expect(explainWait(seen(49)).reasons).toMatchObject([
      { kind: "behind", gate: "queue:q", held: 0, front: { unit: "first", reasons: [] } },
    ]);
    expect(explainWait(seen(51)).reasons).toEqual([]);
  });

  test("follows the line of a gate that is served in order to the one in front", () => {
    const mutex = { "mutex:m": 1 };
    const large = { "mutex:m": 1, "pool:gpu": 2 };
    const { reasons, sentences } = explainWait(
      view({
        task: task({ asks: text(mutex) }),
        gates: [gate("mutex:m", 1), gate("pool:gpu", 2)],
        usage: [usage("gpu", 1, { gates: { "pool:gpu": 1 } })],
        lanes: [lane("mine", mutex), lane("front", large)],
        heads: [head("front", "front", 1), head("me", "mine", 50)],
        ahead: [{ lane: "front", asks: text(large), units: 1 }],
      }),
    );
    expect(reasons).toMatchObject([
      {
        kind: "behind",
        gate: "mutex:m",
        ahead: 1,
        front: { unit: "front", reasons: [{ kind: "full", gate: "pool:gpu" }] },
      },
    ]);
    expect(sentences[0]?.text).toContain("front is in front and waits because");
  });

  test("is its own place even when it is not the head of its lane", () => {
    const { reasons } = explainWait(
      view({
        gates: [gate("cluster", -1), gate("queue:q", 1)],
        heads: [head("head", "mine", 1), head("next", "mine", 2)],
        ahead: [{ lane: "mine", asks: text(ASKS), units: 3 }],
      }),
    );
    expect(reasons).toMatchObject([
      { kind: "behind", gate: "queue:q", held: 0, ahead: 3, front: { unit: "head" } },
    ]);
  });
});

describe("a task that is not in line", () => {
  test("waits for its time when it was delayed, or is to be tried again", () => {
    const later = (attempt: number) =>
      explainWait(view({ task: task({ state: "later", at: NOW + 5_000, attempt }) }));
    expect(later(0).reasons).toEqual([{ kind: "later", at: NOW + 5_000, because: "delay" }]);
    expect(later(1).reasons).toEqual([{ kind: "later", at: NOW + 5_000, because: "retry" }]);
    expect(later(0).sentences[0]?.remedies).toEqual([]);
  });

  test("waits for its time and for what will be in its way then", () => {
    const seen = view({
      task: task({ state: "later", at: NOW + 5_000 }),
      gates: [gate("cluster", -1), gate("queue:q", 1)],
      usage: [usage("mine", 1)],
    });
    expect(explainWait(seen).reasons.map(({ kind }) => kind)).toEqual(["later", "full"]);
  });

  test("has no reason when it runs or has ended", () => {
    for (const state of ["running", "succeeded", "failed", "cancelled"] as const) {
      const full = { gates: [gate("cluster", -1), gate("queue:q", 0)] };
      expect(explainWait(view({ ...full, task: task({ state }) })).reasons).toEqual([]);
    }
  });

  test("has one while it is claimed and waits for its slots", () => {
    const { state, reasons } = explainWait(
      view({
        task: task({ state: "claimed", session: "s1" }),
        gates: [gate("cluster", -1), gate("queue:q", 1)],
        usage: [usage("mine", 1), usage("mine", 1, { held: false })],
        heads: [],
      }),
    );
    expect([state, reasons.map(({ kind }) => kind)]).toEqual(["claimed", ["full"]]);
  });
});

describe("the times that a task stood in line", () => {
  const own = (n: number, at: number, kind: EventRow["kind"], data: object = {}): EventRow => ({
    subject: "me",
    n,
    kind,
    at,
    data: JSON.stringify(data),
  });
  const returned = [own(1, 0, "TaskEnqueued"), own(2, 10, "TaskClaimed"), own(3, 40, "TaskReturned")];

  test("leave out what it ran before it was given back", () => {
    expect(timesInLine(task({ at: 0, since: 40 }), returned)).toEqual([
      { from: 0, until: 10 },
      { from: 40, until: null },
    ]);
  });

  test("leave out the delay of a retry, and end with the end", () => {
    const events = [
      ...returned.slice(0, 2),
      own(3, 20, "TaskRetried", { delayMs: 30 }),
      own(4, 60, "TaskClaimed"),
      own(5, 70, "TaskFailed"),
    ];
    expect(timesInLine(task({ state: "failed" }), events)).toEqual([
      { from: 0, until: 10 },
      { from: 50, until: 60 },
    ]);
    expect(timesInLine(task({ state: "later" }), events.slice(0, 3))).toEqual([{ from: 0, until: 10 }]);
  });

  test("begin when it is due, for one that was put off", () => {
    const [enqueued] = returned as [EventRow];
    expect(timesInLine(task({ state: "later", since: 50 }), [enqueued])).toEqual([]);
    expect(timesInLine(task({ since: 50 }), [enqueued])).toEqual([{ from: 50, until: null }]);
  });
});
