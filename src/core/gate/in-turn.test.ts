// One by one, in the order that is told, with everything that can start in between: then the unit starts too.

import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Case } from "../../../test/support/arbitrary-line.ts";
import { snapshots } from "../../../test/support/arbitrary-line.ts";
import type { Snapshot, Waiter } from "./admit.ts";
import { admit } from "./admit.ts";
import { explain } from "./explain.ts";
import type { Gate } from "./gate.ts";
import type { Rival } from "./in-turn.ts";
import { inTurn } from "./in-turn.ts";
import { bornAs } from "./kind.ts";
import { compare, inOrder } from "./order.ts";
import type { Reason } from "./reason.ts";
import { remedies } from "./remedy.ts";

/**
 * Admits until nothing starts any more. Nothing ends, and no time passes, so no further unit was overtaken for
 * too long.
 */
function settled(snapshot: Snapshot): Snapshot {
  const { admitted, held } = admit(snapshot);
  const workers = (snapshot.workers ?? []).map((worker) => ({ ...worker }));
  for (const unit of inOrder(admitted)) {
    const taker = unit.workers?.find((index) => (workers[index]?.slots ?? 0) > (workers[index]?.used ?? 0));
    const worker = workers[taker ?? -1];
    if (worker) worker.used += 1;
  }
  const gone = new Set(admitted);
  const next: Snapshot = {
    ...snapshot,
    ...(snapshot.workers && { workers }),
    gates: [...snapshot.gates].map((gate) => ({ ...gate, held: held.get(gate.key) ?? gate.held })),
    line: snapshot.line.filter((unit) => !gone.has(unit)),
  };
  return admitted.length > 0 ? settled(next) : next;
}

/** Removes one hurdle, as an operator would. */
function without(snapshot: Snapshot, unit: Waiter, reason: Reason): Snapshot {
  const { workers = [] } = snapshot;
  if ("gate" in reason) {
    const isResumed = reason.kind === "paused" && !reason.zero;
    const change = (gate: Gate): Gate =>
      isResumed ? { ...gate, paused: false } : { ...gate, limit: reason.room ?? Number.NaN };
    const found = [...snapshot.gates];
    const isKnown = found.some(({ key }) => key === reason.gate);
    const born: Gate = { key: reason.gate, limit: null, paused: false, line: "skip", held: 0 };
    return {
      ...snapshot,
      gates: [...found, ...(isKnown ? [] : [born])].map((gate) =>
        gate.key === reason.gate ? change(gate) : gate,
      ),
    };
  }
  const isServed = (other: Waiter): boolean =>
    unit.workers?.length
      ? (other.workers?.some((index) => unit.workers?.includes(index)) ?? false)
      : other.queue === unit.queue;
  return {
    ...snapshot,
    workers: [...workers, { id: "new", slots: 1_000, used: 0 }],
    line: snapshot.line.map((other) =>
      isServed(other) ? { ...other, workers: [...(other.workers ?? []), workers.length] } : other,
    ),
  };
}

const waits = (snapshot: Snapshot, { id }: Waiter): boolean => snapshot.line.some((unit) => unit.id === id);

function startsInTurn(snapshot: Snapshot, unit: Waiter, reasons: readonly Reason[]): boolean {
  return !waits(
    reasons.reduce((world, reason) => settled(without(world, unit, reason)), snapshot),
    unit,
  );
}

function ordersOf(reasons: readonly Reason[]): Reason[][] {
  if (reasons.length <= 1) return [[...reasons]];
  return reasons.flatMap((first) =>
    ordersOf(reasons.filter((other) => other !== first)).map((rest) => [first, ...rest]),
  );
}

const isContested = (reasons: readonly Reason[]): boolean => reasons.some(({ contested }) => contested);

/**
 * Settled snapshots without a claimer, in which a unit reserves only if it was overtaken before. Each unit has
 * three like it at the end of the line.
 */
const looks = fc
  .oneof(snapshots({ workers: true }), snapshots({ workers: true, tight: true }))
  .map(({ me: _, workers = [], ...rest }: Case): Snapshot => {
    const plain = workers.map(({ id, slots, used }) => ({ id, slots, used }));
    const behind = rest.line.flatMap((unit) =>
      [1, 2, 3].map((copy) => ({ ...unit, id: `${unit.id}-${copy}`, priority: -1, mark: undefined })),
    );
    return settled({
      ...rest,
      line: [...rest.line, ...behind],
      workers: plain,
      bypass: { passes: 3, ms: 300 },
    });
  });

describe("removing the hurdles one by one", () => {
  it("starts the unit, if they are removed in this order and other units start in between", () => {
    const seen = { sure: 0, contested: 0, mattering: 0 };
    fc.assert(
      fc.property(fc.noBias(looks), (snapshot) => {
        for (const unit of snapshot.line.filter(({ priority }) => priority >= 0)) {
          const line = snapshot.line.filter((other) => compare(other, unit) <= 0);
          const found = explain({ ...snapshot, line }, unit.id);
          if (found.length < 2) continue;
          const reasons = inTurn({ ...snapshot, line }, unit.id, found, snapshot.line);
          assert.deepEqual(new Set(reasons.map(plain)), new Set(found.map(plain)));
          if (isContested(reasons)) {
            seen.contested += 1;
            continue;
          }
          seen.sure += 1;
          assert.ok(startsInTurn(snapshot, unit, reasons), `${unit.id} still waits`);
          if (!ordersOf(found).every((order) => startsInTurn(snapshot, unit, order))) seen.mattering += 1;
        }
      }),
      { numRuns: 200 },
    );
    // Most answers promise an order, and for many of them another order fails.
    expect(seen.sure).toBeGreaterThan(2 * seen.contested);
    expect(seen.mattering).toBeGreaterThan(50);
  });
});

const unit = (id: string, asks: Record<string, number>): Waiter => ({
  id,
  lane: JSON.stringify(asks),
  rank: 1,
  priority: 0,
  at: Number(id.slice(1)),
  asks: Object.entries(asks).map(([gate, slots]) => ({ gate, slots })),
});
const gate = (key: string, limit: number, held = 0): Gate => ({
  key,
  limit,
  paused: false,
  line: bornAs(key).line,
  held,
});

describe("the order of the hurdles", () => {
  const told = (
    gates: readonly Gate[],
    me: Waiter,
    rivals: readonly Rival[],
    line: readonly Waiter[] = [],
  ) => {
    const snapshot = { now: 0, gates, line: [...line, me] };
    return inTurn(snapshot, me.id, explain(snapshot, me.id), rivals);
  };
  const keysOf = (reasons: readonly Reason[]) => reasons.map((reason) => "gate" in reason && reason.gate);

  it("ends with the gate that stops every other unit, whichever that is", () => {
    const gates = [gate("pool:db", 2, 2), gate("pool:gpu", 0)];
    const both = unit("u1", { "pool:db": 2, "pool:gpu": 1 });
    const atDb = unit("u2", { "pool:db": 1 });
    const atGpu = unit("u3", { "pool:gpu": 1 });
    expect(keysOf(told(gates, both, [atDb]))).toEqual(["pool:gpu", "pool:db"]);
    expect(keysOf(told(gates, both, [atGpu]))).toEqual(["pool:db", "pool:gpu"]);
    expect(isContested(told(gates, both, [atDb]))).toBe(false);
    expect(told(gates, both, [atDb, atGpu]).map(({ contested }) => contested)).toEqual([{}, undefined]);
  });

  it("does not end with a gate that has room for a smaller ask of others", () => {
    const gates = [gate("pool:db", 2, 1), gate("pool:gpu", 1, 1)];
    const me = unit("u1", { "pool:gpu": 1, "pool:db": 2 });
    const small = unit("u2", { "pool:db": 1, "pool:gpu": 1 });
    expect(keysOf(told(gates, me, [small]))).toEqual(["pool:db", "pool:gpu"]);
  });

  it("ends with a mutex if a unit ahead there waits for the other hurdle, and nothing is proposed twice", () => {
    const gates = [gate("mutex:books", 1), gate("tag:tenant=b", 1, 1)];
    const asks = { "mutex:books": 1, "tag:tenant=b": 1 };
    const [first, second] = [unit("u1", asks), unit("u2", asks)];
    const reasons = told(gates, second, [first, second], [first]);
    expect(reasons.map(({ kind }) => kind)).toEqual(["full", "behind"]);
    expect(reasons.map(remedies)).toEqual([[{ action: "setLimit", gate: "tag:tenant=b", limit: 3 }], []]);
    expect(isContested(reasons)).toBe(false);
    // The command starts the first, which takes the mutex. Once it has ended, the second starts.
    const opened = {
      now: 0,
      gates: [gate("mutex:books", 1), gate("tag:tenant=b", 3, 1)],
      line: [first, second],
    };
    expect(settled(opened).line).toEqual([second]);
    expect(settled({ ...opened, line: [second] }).line).toEqual([]);
  });

  it("has the mutex before a pool, because the unit keeps its place at the mutex", () => {
    const gates = [gate("mutex:books", 1, 1), gate("pool:db", 1, 1)];
    const me = unit("u1", { "pool:db": 1, "mutex:books": 1 });
    const others = [unit("u2", { "mutex:books": 1 }), unit("u3", { "pool:db": 1 })];
    const reasons = told(gates, me, others);
    expect(keysOf(reasons)).toEqual(["mutex:books", "pool:db"]);
    expect(isContested(reasons)).toBe(false);
  });

  it("needs a pause of the queue if no order is sure, which helps only if nobody of another queue competes", () => {
    const gates = [gate("pool:a", 1, 1), gate("pool:b", 1, 1), gate("queue:q", -1)];
    const me = unit("u1", { "pool:a": 1, "pool:b": 1, "queue:q": 1 });
    const atA = unit("u2", { "pool:a": 1, "queue:q": 1 });
    const atB = unit("u3", { "pool:b": 1, "queue:q": 1 });
    expect(told(gates, me, [atA, atB])[0]?.contested).toEqual({ pause: "queue:q" });
    expect(told(gates, me, [atA, unit("u4", { "pool:b": 1 })])[0]?.contested).toEqual({});
  });
});

const plain = ({ contested: _, ...reason }: Reason): string => JSON.stringify(reason);
