import { describe, expect, test } from "vitest";
import type { StepView } from "../../api/run-view.ts";
import type { ToldLine } from "./run-lines.ts";
import { RunLines } from "./run-lines.ts";
import type { Seen, Why } from "./run-seen.ts";

const step = (more: Partial<StepView>): StepView => ({
  name: "sync",
  kind: "task",
  task: "sync",
  state: "pending",
  needs: [],
  unit: null,
  attempt: 0,
  enqueuedAt: 0,
  claimedAt: null,
  finishedAt: null,
  inLine: [],
  ...more,
});

const seen = (
  of: StepView,
  { run = {}, why, waits }: { run?: object; why?: Why; waits?: Why } = {},
): Seen => ({
  run: {
    id: "01k",
    workflow: "nightly",
    state: "started",
    paused: false,
    finishedAt: null,
    steps: [of],
    ...run,
  } as never,
  now: 5_000,
  why,
  whys: new Map(waits ? [["sync", waits]] : []),
});

function changes(before: Seen | undefined, now: Seen): string[] {
  const lines = new RunLines();
  if (before) lines.tell(before);
  return textsOf(lines.tell(now));
}

const textsOf = (lines: readonly ToldLine[]): string[] => lines.map(({ text }) => text);

test("each line has the time of what it tells", () => {
  const times = (lines: RunLines, of: Seen): number[] => lines.tell(of).map(({ at }) => at);
  const lines = new RunLines();
  const queued = { state: "queued", queuedAt: 500, startedAt: null, dequeuedAt: null };
  expect(times(lines, seen(step({}), { run: queued }))).toEqual([500]);
  const started = { ...queued, state: "started", startedAt: 1_500, dequeuedAt: 1_000 };
  const claimed = step({ state: "running", attempt: 1, claimedAt: 2_000 });
  expect(times(lines, seen(claimed, { run: started }))).toEqual([1_500, 2_000]);
  const moved = { ...claimed, progress: { done: 1, of: 2 } };
  expect(times(lines, seen(moved, { run: started }))).toEqual([5_000]);
  const over = { ...started, state: "succeeded", finishedAt: 4_000 };
  expect(times(lines, seen({ ...claimed, state: "succeeded", finishedAt: 3_000 }, { run: over }))).toEqual([
    3_000, 4_000,
  ]);
});

const running = step({ state: "running", attempt: 1, claimedAt: 2_000 });

describe("a run that is watched in a log", () => {
  test("is told once as it stands, and then only what changes", () => {
    const first = seen(running);
    expect(changes(undefined, first)).toEqual(["nightly  01k started", "sync     started"]);
    expect(changes(first, seen(running))).toEqual([]);
    expect(changes(first, seen({ ...running, progress: { done: 2, of: 4 } }))).toEqual([
      "sync     3s  █████░░░░░ 2/4",
    ]);
    expect(changes(first, seen(running, { run: { paused: true } }))).toEqual(["nightly  paused"]);
    expect(changes(first, seen(step({ state: "later", attempt: 1 })))).toEqual([
      "sync     attempt 1 did not succeed, will be retried",
    ]);
  });

  test("progress is told once in a while", () => {
    const lines = new RunLines();
    const at = (now: number, done: number): string[] =>
      textsOf(lines.tell({ ...seen({ ...running, progress: { done, of: 10 } }), now }));
    at(3_000, 0);
    expect(at(4_000, 1)).toEqual(["sync     2s  █░░░░░░░░░ 1/10"]);
    expect(at(5_000, 2)).toEqual([]);
    expect(at(9_000, 3)).toEqual(["sync     7s  ███░░░░░░░ 3/10"]);
    expect(at(20_000, 3)).toEqual([]);
  });

  test("a step over a list tells how it stands once in a while, and what it came to", () => {
    const lines = new RunLines();
    const counts = { total: 4, created: 4, waiting: 2, running: 2, succeeded: 0, failed: 0, cancelled: 0 };
    const at = (now: number, more: object, of: Partial<StepView> = { state: "running" }): string[] =>
      textsOf(
        lines.tell({
          ...seen(step({ ...of, items: { ...counts, enqueuedAt: 0, since: 1_000, until: null, ...more } })),
          now,
        }),
      );
    expect(at(2_000, {})).toEqual(["nightly  01k started", "sync     started, 4 items"]);
    expect(at(3_000, { waiting: 1, succeeded: 1 })).toEqual([
      "sync     2s  ███░░░░░░░ 1/4 done, 2 in flight, 1 waiting, about 6s left",
    ]);
    expect(at(4_000, { waiting: 0, succeeded: 2 })).toEqual([]);
    const error = { name: "Error", message: "gone" };
    const result = [{ state: "failed", error }, ...Array(3).fill({ state: "succeeded", result: 1 })];
    const ended = { state: "failed", result } as const;
    expect(at(9_000, { waiting: 0, running: 0, until: 8_000 }, ended)).toEqual([
      "sync     failed after 7s: 1 of 4 items failed; item 0: Error: gone",
    ]);
  });

  test("a wait is told again when something else is in the way, not when only time passed", () => {
    const waiting = step({ state: "waiting" });
    const held = (time: string): Seen =>
      seen(waiting, { waits: { text: `pool "gpu" is full (by 01k9 train for ${time})`, gist: "full" } });
    expect(changes(undefined, held("1s"))[1]).toBe(
      'sync     waits: pool "gpu" is full (by 01k9 train for 1s)',
    );
    expect(changes(held("1s"), held("1m2s"))).toEqual([]);
    expect(
      changes(held("1s"), seen(waiting, { waits: { text: 'pool "gpu" is paused', gist: "paused" } })),
    ).toEqual(['sync     waits: pool "gpu" is paused']);
  });

  test("the end of a run comes after the end of its steps", () => {
    const ended = seen(
      { ...running, state: "failed", finishedAt: 4_000, error: { name: "Error", message: "gone" } },
      {
        run: {
          state: "failed",
          startedAt: 1_000,
          finishedAt: 4_000,
          error: { name: "StepsFailed", code: "STEPS_FAILED", message: "Step sync did not succeed." },
        },
      },
    );
    expect(changes(seen(running), ended)).toEqual([
      "sync     failed after 2s: Error: gone",
      "nightly  01k failed after 3s: Step sync did not succeed.",
    ]);
    expect(changes(ended, ended)).toEqual([]);
  });
});
