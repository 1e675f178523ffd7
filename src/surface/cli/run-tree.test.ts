import { describe, expect, test } from "vitest";
import type { StepView } from "../../api/run-view.ts";
import type { Seen } from "./run-seen.ts";
import { runTree } from "./run-tree.ts";

const NOW = 100_000;
const ROOM = { columns: 60, rows: 30 };

const step = (name: string, needs: string[] = [], more: Partial<StepView> = {}): StepView => ({
  name,
  task: name,
  kind: "task",
  state: "pending",
  needs,
  unit: null,
  attempt: 0,
  enqueuedAt: null,
  claimedAt: null,
  finishedAt: null,
  inLine: [],
  ...more,
});

const done: Partial<StepView> = {
  state: "succeeded",
  attempt: 1,
  claimedAt: NOW - 9_000,
  finishedAt: NOW - 4_000,
};

function seen(steps: StepView[], more: Partial<Seen["run"]> = {}, whys: [string, string][] = []): Seen {
  const run = {
    id: "01k",
    workflow: "nightly",
    state: "started",
    paused: false,
    startedAt: NOW - 10_000,
    queuedAt: NOW - 12_000,
    finishedAt: null,
    steps,
    ...more,
  } as Seen["run"];
  return {
    run,
    now: NOW,
    whys: new Map(whys.map(([step, text]) => [step, { text, gist: text }])),
    why: undefined,
  };
}

describe("the tree of a run", () => {
  test("keeps a chain at the margin, and comes back there where branches meet", () => {
    const steps = [
      step("a", [], done),
      step("b", ["a"]),
      step("c", ["b"]),
      step("left", ["c"]),
      step("right", ["c"]),
      step("join", ["left", "right"]),
      step("end", ["join"]),
    ];
    expect(runTree(seen(steps), ROOM)).toEqual([
      "nightly 01k  started for 10s  █░░░░░░░░░ 1/7 steps",
      "├─ ✔ a         5s",
      "├─ · b",
      "├─ · c         after b",
      "│  ├─ · left   after c",
      "│  └─ · right  after c",
      "├─ · join      after left, right",
      "└─ · end       after join",
    ]);
  });

  test("says of each step what one would ask of it", () => {
    const steps = [
      step("runs", [], {
        state: "running",
        attempt: 2,
        claimedAt: NOW - 3_000,
        progress: { done: 3, of: 10 },
      }),
      step("part", [], { state: "running", attempt: 1, claimedAt: NOW - 3_000, progress: 0.5 }),
      step("waits", [], { state: "waiting", inLine: [{ from: NOW - 4_000, until: null }] }),
      step("retries", [], { state: "later", attempt: 1 }),
      step("broke", [], {
        ...done,
        state: "failed",
        error: { name: "Error", message: "no such table" },
      }),
      step("spared", ["broke"], {
        state: "skipped",
        because: { kind: "need", step: "broke", was: "failed", wanted: "succeeded" },
      }),
    ];
    expect(
      runTree(seen(steps, {}, [["waits", 'pool "gpu" is full: 2 of 2 slots held']]), ROOM).slice(1),
    ).toEqual([
      "├─ ▶ runs     3s, attempt 2  ███░░░░░░░ 3/10",
      "├─ ▶ part     3s  █████░░░░░ 50%",
      '├─ ◌ waits    waiting for 4s: pool "gpu" is full: 2 of 2 sl…',
      "├─ ↻ retries  will be retried, attempt 2",
      "├─ ✖ broke    after 5s: Error: no such table",
      "└─ – spared   step broke failed",
    ]);
  });

  test("draws a bar for a step over a list, in words where there is room for them", () => {
    const items = { total: 100_000, created: 46_000, waiting: 790, running: 100, succeeded: 45_108 };
    const many = step("sync", [], {
      state: "running",
      items: { ...items, failed: 2, cancelled: 0, enqueuedAt: 0, since: NOW - 60_000, until: NOW },
    });
    expect(runTree(seen([many]), { columns: 120, rows: 30 })[1]).toBe(
      "└─ ▶ sync  1m  █████░░░░░ 45110/100000 done, 100 in flight, 54790 waiting, 2 failed, about 1m14s left",
    );
    expect(runTree(seen([many]), { columns: 80, rows: 30 })[1]).toBe(
      "└─ ▶ sync  1m  █████░░░░░ 45110/100000 ▶100 ◌54790 ✖2 about 1m14s left",
    );
  });

  test("of a step over a list that has ended says what its items came to", () => {
    const counts = { total: 3, created: 3, waiting: 0, running: 0, succeeded: 1, failed: 1, cancelled: 1 };
    const ended = { items: { ...counts, enqueuedAt: 0, since: NOW - 5_000, until: NOW - 2_000 } };
    const error = { name: "Error", message: "no such user" };
    const one = { state: "succeeded", result: 1 };
    const result = [one, { state: "failed", error }, { state: "cancelled", error: { by: "onFailure" } }];
    const steps = [
      step("all", [], { ...ended, state: "succeeded", result: [one, one, one] }),
      step("some", [], { ...ended, state: "failed", result }),
      step("none", [], { ...ended, state: "cancelled" }),
    ];
    expect(runTree(seen(steps), { columns: 80, rows: 30 }).slice(1)).toEqual([
      "├─ ✔ all   3s  3 items",
      "├─ ✖ some  3s  1 of 3 items failed, 1 cancelled; item 1: Error: no such user",
      "└─ ■ none  3s  1 of 3 items failed, 1 cancelled",
    ]);
  });

  test("of a queued run says why it is", () => {
    const queued = {
      ...seen([step("a")], { state: "queued", startedAt: null }),
      why: { text: "the run cap is full: 2 of 2 slots held", gist: "full runs" },
    };
    expect(runTree(queued, { columns: 100, rows: 30 })[0]).toBe(
      "nightly 01k  queued for 12s: the run cap is full: 2 of 2 slots held",
    );
  });

  test("stays within the screen, and shows what moves before what is done", () => {
    const steps = Array.from({ length: 50 }, (_, n) =>
      step(`s${n}`, [], n === 40 ? { state: "running", claimedAt: NOW } : done),
    );
    const lines = runTree(seen(steps), { columns: 30, rows: 8 });
    expect(lines).toHaveLength(7);
    expect(lines.slice(-2)).toEqual(["├─ ▶ s40  0ms", "  … and 45 more"]);
    expect(lines[0]?.length).toBeLessThanOrEqual(40);
  });
});
