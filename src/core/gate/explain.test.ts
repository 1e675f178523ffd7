// The reasons are exact: if all of them are removed, the unit starts; if only some are, it does not.

import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Case } from "../../../test/support/arbitrary-line.ts";
import { snapshots } from "../../../test/support/arbitrary-line.ts";
import type { Snapshot, Waiter } from "./admit.ts";
import { admit } from "./admit.ts";

import { Explainer, explain } from "./explain.ts";
import type { Gate } from "./gate.ts";
import { compare } from "./order.ts";
import type { Reason } from "./reason.ts";
import { remedy } from "./remedy.ts";

const CASES = 500;

/** Applies what an operator would: raise limits to the named value, resume, set, start a worker. */
function cure(snapshot: Case, unit: Waiter, reasons: readonly Reason[]): Snapshot {
  const raised = new Map(
    reasons.flatMap((reason) =>
      "gate" in reason && (reason.kind !== "paused" || reason.zero)
        ? [[reason.gate, reason.room ?? Number.NaN] as const]
        : [],
    ),
  );
  const resumed = new Set(
    reasons.flatMap((reason) => (reason.kind === "paused" && !reason.zero ? [reason.gate] : [])),
  );
  const missing = [...raised].filter(([key]) => !snapshot.gates.some((gate) => gate.key === key));
  const gates = [
    ...snapshot.gates.map((gate) => ({
      ...gate,
      limit: raised.get(gate.key) ?? gate.limit,
      paused: gate.paused && !resumed.has(gate.key),
    })),
    ...missing.map(([key, limit]): Gate => ({ key, limit, paused: false, line: "skip", held: 0 })),
  ];
  const { workers = [] } = snapshot;
  if (!reasons.some(({ kind }) => kind === "busy" || kind === "noWorker")) return { ...snapshot, gates };
  return {
    ...snapshot,
    gates,
    workers: [...workers, { id: "new", slots: 1_000, used: 0 }],
    line: snapshot.line.map((each) =>
      isServedWith(unit, each) ? { ...each, workers: [...(each.workers ?? []), workers.length] } : each,
    ),
  };
}

/** A worker like those that serve the unit. If there is none, a worker for its queue. */
const isServedWith = (unit: Waiter, other: Waiter): boolean =>
  unit.workers?.length
    ? (other.workers?.some((index) => unit.workers?.includes(index)) ?? false)
    : other.queue === unit.queue;

const starts = (snapshot: Snapshot, { id }: Waiter): boolean => !admit(snapshot).waiting.has(id);

const partsOf = (reasons: readonly Reason[]): Reason[][] =>
  Array.from({ length: 2 ** reasons.length - 1 }, (_, bits) =>
    reasons.filter((_reason, index) => bits & (1 << index)),
  );

/** Snapshots without a claimer. Every worker stays as it is, so no claim budget plays a part. */
const looks = fc
  .oneof(snapshots({ workers: true }), snapshots({ workers: true, tight: true }))
  .map(({ me: _, ...rest }: Case): Case => rest);

describe("the reasons of a unit", () => {
  it("are complete and minimal: removing all of them starts it, removing a part of them does not", () => {
    const sizes = new Map<number, number>();
    fc.assert(
      fc.property(fc.noBias(looks), (snapshot) => {
        const explainer = new Explainer(snapshot);
        for (const unit of snapshot.line) {
          const reasons = explainer.reasonsOf(unit.id);
          sizes.set(reasons.length, (sizes.get(reasons.length) ?? 0) + 1);
          assert.ok(starts(cure(snapshot, unit, reasons), unit), "it does not start");
          for (const part of partsOf(reasons))
            if (starts(cure(snapshot, unit, part), unit)) assert.deepEqual(reasons, part);
        }
      }),
      { numRuns: CASES },
    );
    for (const size of [0, 1, 2, 3, 4]) expect(sizes.get(size) ?? 0).toBeGreaterThan(CASES / 50);
  });

  it("tell what is really held, and name somebody ahead where others only would be first", () => {
    const told = { full: 0, behind: 0, free: 0 };
    fc.assert(
      fc.property(fc.noBias(looks), (snapshot) => {
        const places = new Map(snapshot.line.map((unit) => [unit.id, unit]));
        for (const unit of snapshot.line) {
          for (const reason of explain(snapshot, unit.id)) {
            if (reason.kind === "busy") {
              const serving = (unit.workers ?? []).flatMap((index) => snapshot.workers?.[index] ?? []);
              const free = serving.reduce((sum, { slots, used }) => sum + slots - used, 0);
              assert.equal(reason.free ?? 0, free);
              if (free > 0) told.free += 1;
            }
            if (reason.kind !== "full" && reason.kind !== "behind") continue;
            told[reason.kind] += 1;
            const gate = snapshot.gates.find(({ key }) => key === reason.gate) as Gate & { limit: number };
            assert.equal(reason.held, gate.held);
            assert.equal(gate.held + reason.asked > gate.limit, reason.kind === "full");
            if (reason.kind !== "behind") continue;
            const front = places.get(reason.front.unit) as Waiter;
            assert.ok(front.asks.some((ask) => ask.gate === reason.gate) && compare(front, unit) < 0);
          }
        }
      }),
      { numRuns: CASES },
    );
    for (const count of Object.values(told)) expect(count).toBeGreaterThan(CASES / 10);
  });

  it("come with one command each, which says that limit", () => {
    let several = 0;
    fc.assert(
      fc.property(fc.noBias(looks), (snapshot) => {
        for (const unit of snapshot.line) {
          const reasons = explain(snapshot, unit.id);
          if (reasons.length > 1) several += 1;
          const cures = reasons.map(remedy);
          assert.equal(new Set(cures).size, cures.length, "a command twice");
          for (const [index, reason] of reasons.entries()) {
            assert.ok(cures[index], "a reason without a command");
            if ("gate" in reason && reason.kind !== "paused")
              assert.deepEqual(cures[index], { action: "setLimit", gate: reason.gate, limit: reason.room });
          }
        }
      }),
      { numRuns: CASES },
    );
    expect(several).toBeGreaterThan(CASES);
  });
});

const unit = (id: string, asks: Record<string, number>, more: Partial<Waiter> = {}): Waiter => ({
  id,
  lane: JSON.stringify(asks),
  rank: 1,
  priority: 0,
  at: Number(id.slice(1)),
  asks: Object.entries(asks).map(([gate, slots]) => ({ gate, slots })),
  workers: [0],
  queue: "q",
  name: "t",
  ...more,
});
const gate = (key: string, limit: number | null, more: Partial<Gate> = {}): Gate => ({
  key,
  limit,
  paused: false,
  line: "skip",
  held: 0,
  ...more,
});
const worker = (slots: number, used = 0) => ({ id: "w", slots, used });

describe("why a unit waits", () => {
  it("is the full gate and the busy worker, not the first of them that is met", () => {
    const line = [unit("u1", { cap: 1 })];
    const reasons = explain(
      { now: 0, gates: [gate("cap", 2, { held: 2 })], line, workers: [worker(2, 2)] },
      "u1",
    );
    expect(reasons).toEqual([
      { kind: "full", gate: "cap", limit: 2, held: 2, asked: 1, ahead: 0, room: 3 },
      { kind: "busy", workers: 1, slots: 2, ahead: 0 },
    ]);
  });

  it("names the gates last that everybody asks for", () => {
    const line = [unit("u1", { cluster: 1, "queue:q": 1, "pool:gpu": 1 })];
    const gates = line.flatMap(({ asks }) => asks.map(({ gate: key }) => gate(key, 1, { held: 1 })));
    const reasons = explain({ now: 0, gates, line, workers: [worker(9)] }, "u1");
    expect(reasons.map((reason) => "gate" in reason && reason.gate)).toEqual([
      "pool:gpu",
      "queue:q",
      "cluster",
    ]);
  });

  it("is the pause, and that nobody lives who would take it", () => {
    const line = [unit("u1", { cap: 1 }, { workers: [] })];
    const reasons = explain({ now: 0, gates: [gate("cap", 2, { paused: true })], line, workers: [] }, "u1");
    expect(reasons).toEqual([
      { kind: "paused", gate: "cap", ahead: 0 },
      { kind: "noWorker", queue: "q", name: "t" },
    ]);
  });

  it("is who stands in front, and its reason, where nothing is held", () => {
    const line = [unit("u1", { tag: 1 }, { workers: [] }), unit("u2", { tag: 1 }, { workers: [] })];
    const nobody = { kind: "noWorker", queue: "q", name: "t" };
    const reasons = explain({ now: 0, gates: [gate("tag", 1)], line, workers: [] }, "u2");
    expect(reasons).toEqual([
      {
        kind: "behind",
        gate: "tag",
        limit: 1,
        held: 0,
        asked: 1,
        ahead: 0,
        front: { unit: "u1", reasons: [nobody] },
        room: 2,
      },
      nobody,
    ]);
  });

  it("is both the pause of a gate and that it is full", () => {
    const line = [unit("u1", { cap: 1 })];
    const gates = [gate("cap", 1, { paused: true, held: 1 })];
    expect(explain({ now: 0, gates, line, workers: [worker(9)] }, "u1")).toMatchObject([
      { kind: "paused", gate: "cap" },
      { kind: "full", gate: "cap", held: 1 },
    ]);
  });

  it("is the pause of its run, once, however many gates the run has for it", () => {
    const gates = [gate("run:r/async", -1, { paused: true }), gate("run:r/items/s", 3, { paused: true })];
    const line = [unit("u1", { "run:r/async": 1, "run:r/items/s": 1 })];
    expect(explain({ now: 0, gates, line, workers: [worker(9)] }, "u1")).toEqual([
      { kind: "paused", gate: "run:r", ahead: 0 },
    ]);
  });

  it("counts those who would start with it in the limit that it needs, and nobody else", () => {
    const line = [
      unit("u1", { cap: 1 }),
      unit("u2", { cap: 1, other: 1 }),
      unit("u3", { cap: 1 }),
      unit("u4", { cap: 1 }),
    ];
    const gates = [gate("cap", 1, { held: 1 }), gate("other", 1, { held: 1 })];
    expect(explain({ now: 0, gates, line, workers: [worker(9)] }, "u4")).toMatchObject([
      { kind: "full", gate: "cap", held: 1, ahead: 3, room: 4 },
    ]);
  });

  it("is the window that those ahead of an item would fill, with one limit for each gate that has room for all", () => {
    const asks = { "pool:gpu": 1, "run:r/items/s": 1 };
    const line = ["u1", "u2", "u3", "u4"].map((id) => unit(id, asks));
    const gates = [gate("pool:gpu", 2, { line: "bypass", held: 2 }), gate("run:r/items/s", 2)];
    const reasons = explain({ now: 0, gates, line, workers: [worker(9)] }, "u4");
    expect(reasons.map(remedy)).toEqual([
      { action: "setLimit", gate: "pool:gpu", limit: 6 },
      { action: "setLimit", gate: "run:r/items/s", limit: 4 },
    ]);
  });

  it("has no command where not all are seen who stand ahead", () => {
    const line = [unit("u1", { cap: 1 }), unit("u2", { cap: 1 }, { ahead: { cap: 40 } })];
    const gates = [gate("cap", 1, { held: 1 })];
    const reasons = explain({ now: 0, gates, line, workers: [worker(99)] }, "u2");
    expect(reasons.map(remedy)).toEqual([undefined]);
  });

  it("is not a gate that others leave free once the rest is gone, however many stand ahead", () => {
    // u1 keeps its place at both locks. With the first lock free it only waits for a worker, and keeps
    // nothing.
    const both = { first: 1, second: 1 };
    const line = [
      unit("u1", both, { workers: [] }),
      unit("u2", both, { ahead: { first: 500, second: 500 } }),
    ];
    const gates = [gate("first", 1, { line: "strict", held: 1 }), gate("second", 1, { line: "strict" })];
    expect(explain({ now: 0, gates, line, workers: [worker(9)] }, "u2")).toEqual([
      { kind: "full", gate: "first", limit: 1, held: 1, asked: 1, ahead: 500 },
    ]);
  });

  it("is that those ahead would take the slots that its workers have free", () => {
    const line = [unit("u1", { cap: 1 }), unit("u2", { cap: 1 })];
    const gates = [gate("cap", 1, { held: 1 })];
    expect(explain({ now: 0, gates, line, workers: [worker(1)] }, "u2")).toMatchObject([
      { kind: "full", gate: "cap" },
      { kind: "busy", workers: 1, slots: 1, free: 1 },
    ]);
  });

  it("is nothing when it starts in the next pass", () => {
    expect(
      explain(
        { now: 0, gates: [gate("cap", 1)], line: [unit("u1", { cap: 1 })], workers: [worker(1)] },
        "u1",
      ),
    ).toEqual([]);
  });

  it("suppose a worker of the unit's own app, which runs no task of another app that waits ahead", () => {
    const gate: Gate = { key: "pool:gpu", limit: 1, paused: false, line: "bypass", held: 0 };
    const unit = (id: string, name: string, at: number): Waiter => ({
      id,
      lane: name,
      rank: 1,
      priority: 0,
      at,
      asks: [{ gate: "pool:gpu", slots: 1 }],
      queue: "cpu",
      name,
      workers: [],
    });
    const line = [unit("first", "upscale", 1), unit("second", "watermark", 2)];
    const apps = [
      { app: "images", tasks: ["upscale"] },
      { app: "marks", tasks: ["watermark"] },
    ];
    const world = { now: 10, gates: [gate], line, workers: [] };
    expect(explain({ ...world, apps }, "second").map(({ kind }) => kind)).toEqual(["noWorker"]);
    // If the app is not known, the new worker may also run the units that wait ahead.
    expect(explain(world, "second").map(({ kind }) => kind)).toEqual(["behind", "noWorker"]);
  });
});
