// Explaining many units of one line costs little more than explaining a few, and each unit gets the same
// answer as it would alone.

import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { snapshots } from "../../../test/support/arbitrary-line.ts";
import type { Snapshot, Waiter } from "./admit.ts";
import { Explainer, explain } from "./explain.ts";
import type { Gate } from "./gate.ts";
import { compare } from "./order.ts";

/**
 * How often units and gates were read. Each walk reads each unit and gate that it passes once; a few more
 * reads happen outside the walks.
 */
const seen = { units: 0, gates: 0 };

/** The same line and gates, but reads of them are counted. */
function watched({ line, gates, ...rest }: Snapshot): Snapshot {
  return {
    ...rest,
    line: line.map(({ asks, ...unit }) => ({
      ...unit,
      get asks() {
        seen.units += 1;
        return asks;
      },
    })),
    gates: [...gates].map(({ limit, ...gate }) => ({
      ...gate,
      get limit() {
        seen.gates += 1;
        return limit;
      },
    })),
  };
}

function cost(snapshot: Snapshot, ids: readonly string[]): { units: number; gates: number } {
  const explainer = new Explainer(watched(snapshot));
  Object.assign(seen, { units: 0, gates: 0 });
  for (const id of ids) expect(explainer.reasonsOf(id)).not.toEqual([]);
  return { ...seen };
}

const looks = fc
  .oneof(snapshots({ workers: true }), snapshots({ workers: true, tight: true }))
  .map(({ me: _, ...rest }) => rest);

describe("a page of a line", () => {
  it("says of each unit what it would be told alone, in whatever order they are asked about", () => {
    let behind = 0;
    fc.assert(
      fc.property(fc.noBias(looks), fc.boolean(), (snapshot, isBackwards) => {
        const page = isBackwards ? snapshot.line.toReversed() : snapshot.line;
        const explainer = new Explainer(snapshot);
        for (const unit of page) {
          const reasons = explainer.reasonsOf(unit.id);
          const line = snapshot.line.filter((other) => compare(other, unit) <= 0);
          assert.deepEqual(reasons, explain({ ...snapshot, line }, unit.id));
          behind += reasons.filter(({ kind }) => kind === "behind").length;
        }
      }),
      { numRuns: 150 },
    );
    expect(behind).toBeGreaterThan(100);
  });

  it("says what walks of the whole line say, however few units ask for a gate", () => {
    let behind = 0;
    const skipping = looks.map((snapshot) => ({
      ...snapshot,
      gates: snapshot.gates.map((gate) => ({ ...gate, line: "skip" as const })),
      workers: (snapshot.workers ?? []).map((worker) => ({
        ...worker,
        slots: worker.slots > 2 ? 1_000 : worker.slots,
      })),
    }));
    fc.assert(
      fc.property(
        fc.noBias(fc.oneof(looks, skipping, skipping)),
        fc.constantFrom(0.2, 0.5, 1),
        (snapshot, narrow) => {
          const quick = new Explainer(snapshot, narrow);
          const whole = new Explainer(snapshot, 0);
          for (const { id } of snapshot.line) {
            const reasons = quick.reasonsOf(id);
            assert.deepEqual(reasons, whole.reasonsOf(id));
            behind += reasons.filter(({ kind }) => kind === "behind").length;
          }
        },
      ),
      { numRuns: 150 },
    );
    expect(behind).toBeGreaterThan(100);
  });

  it("gives a unit no worker that only another one of its queue would have", () => {
    // A worker like w1 would also start u1, which then takes the only slot. A worker like w0 would not.
    const line = [
      { ...unit(1, { cap: 1 }), queue: "r", workers: [1] },
      { ...unit(2, {}), workers: [0] },
      { ...unit(3, {}), workers: [0] },
      { ...unit(4, { cap: 1 }), workers: [1] },
    ];
    const workers = ["w0", "w1"].map((id) => ({ id, slots: 1, used: 1 }));
    const snapshot = { now: 0, gates: [gate("cap", 1)], line, workers };
    const explainer = new Explainer(snapshot);
    const kinds = line.map(({ id }) => explainer.reasonsOf(id).map(({ kind }) => kind));
    expect(kinds).toEqual([["busy"], ["busy"], ["busy"], ["behind", "busy"]]);
  });

  it("says as much of those in front as each unit would be told alone, however long the chain", () => {
    // Each unit waits for the one before it.
    const line = Array.from({ length: 9 }, (_, index) =>
      unit(index, { [`g${index}`]: 1, [`g${index + 1}`]: 1 }),
    );
    const gates = Array.from({ length: 10 }, (_, index) =>
      gate(`g${index}`, 1, "strict", index === 0 ? 1 : 0),
    );
    const snapshot = { now: 0, gates, line };
    const explainer = new Explainer(snapshot);
    for (const { id } of line) expect(explainer.reasonsOf(id)).toEqual(explain(snapshot, id));
  });
});

const unit = (index: number, asks: Record<string, number>): Waiter => ({
  id: `u${String(index).padStart(4, "0")}`,
  lane: JSON.stringify(asks),
  rank: 1,
  priority: 0,
  at: index,
  asks: Object.entries(asks).map(([key, slots]) => ({ gate: key, slots })),
  workers: [],
  queue: "q",
  name: "t",
});
const gate = (key: string, limit: number, line: Gate["line"] = "skip", held = 0): Gate => ({
  key,
  limit,
  paused: false,
  line,
  held,
});

describe("of five thousand runs, each with a tag of its own", () => {
  const LENGTH = 5_000;
  const tags = Array.from({ length: LENGTH }, (_, index) => `tag:t=${index}`);
  const line = tags.map((tag, index) => unit(index, { runs: 1, [tag]: 1 }));
  const gates = [gate("runs", 1, "skip", 1), ...tags.map((tag) => gate(tag, 1))];
  const snapshot: Snapshot = { now: 0, gates, line, workers: [] };
  const idsOf = (from: number): string[] => line.slice(from, from + 100).map(({ id }) => id);

  it("the last hundred are explained by at most four times as many walks as the last one", () => {
    const one = cost(snapshot, idsOf(LENGTH - 1));
    expect(one.units).toBeGreaterThanOrEqual(LENGTH);
    const page = cost(snapshot, idsOf(LENGTH - 100));
    expect(page.units).toBeLessThanOrEqual(4 * one.units);
    expect(page.gates).toBeLessThanOrEqual(4 * one.gates);
  });

  it("the first hundred cost about as much as the last one, and gates that none of them asks for cost nothing", () => {
    const one = cost(snapshot, idsOf(LENGTH - 1));
    const first = { ...snapshot, line: line.slice(0, 100) };
    const front = cost(first, idsOf(0));
    expect(front.units).toBeLessThanOrEqual(4 * one.units);
    const asked = cost({ ...first, gates: gates.slice(0, 101) }, idsOf(0));
    // Each gate of the store is looked at once, to find out that nobody asks for it.
    expect(front.gates).toBeLessThanOrEqual(asked.gates + gates.length);
  });
});

describe("of ten thousand runs, two for each tag", () => {
  const LENGTH = 10_000;
  const tags = Array.from({ length: LENGTH / 2 }, (_, index) => `tag:t=${index}`);
  const line = Array.from({ length: LENGTH }, (_, index) =>
    unit(index, { runs: 1, [tags[index % tags.length] as string]: 1 }),
  );
  const gates = [gate("runs", 5), ...tags.map((tag) => gate(tag, 1))];
  const idsOf = (from: number): string[] => line.slice(from, from + 100).map(({ id }) => id);

  it.each([
    ["with no worker", line.map((one) => ({ ...one, workers: [] })), []],
    ["with workers", line.map((one) => ({ ...one, workers: [0] })), [{ id: "w", slots: 1_000_000, used: 0 }]],
  ])("a page costs a few walks wherever it is, %s", (_, line, workers) => {
    const snapshot: Snapshot = { now: 0, gates, line, workers };
    for (const from of [5_000, 7_000, 9_900]) {
      const page = cost(snapshot, idsOf(from));
      expect(page.units).toBeGreaterThanOrEqual(from);
      expect(page.units).toBeLessThanOrEqual(15 * LENGTH);
      expect(page.gates).toBeLessThanOrEqual(60 * LENGTH);
    }
  });

  it("each unit is told what walks of the whole line tell", () => {
    const short = line.filter((_, index) => index % 50 === 0);
    const snapshot: Snapshot = { now: 0, gates, line: short, workers: [] };
    const quick = new Explainer(snapshot);
    const whole = new Explainer(snapshot, 0);
    for (const { id } of short) expect(quick.reasonsOf(id)).toEqual(whole.reasonsOf(id));
  });
});
