// One by one, in the order that is told, with everything that can start in between: then the unit starts too.

import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "vitest";
import type { Case } from "../../../test/support/arbitrary-line.ts";
import { snapshots } from "../../../test/support/arbitrary-line.ts";
import type { Snapshot, Waiter } from "./admit.ts";
import { admit } from "./admit.ts";
import { explain } from "./explain.ts";
import type { Gate } from "./gate.ts";
import { inTurn } from "./in-turn.ts";
import { compare, inOrder } from "./order.ts";
import type { Reason } from "./reason.ts";

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

/** Settled snapshots without a claimer, in which a unit reserves only if it was overtaken before. */
const looks = fc
  .oneof(snapshots({ workers: true }), snapshots({ workers: true, tight: true }))
  .map(({ me: _, workers = [], ...rest }: Case): Snapshot => {
    const plain = workers.map(({ id, slots, used }) => ({ id, slots, used }));
    return settled({ ...rest, workers: plain, bypass: { passes: 3, ms: 300 } });
  });

describe("removing the hurdles one by one", () => {
  it("starts the unit, if they are removed in this order and other units start in between", () => {
    const seen = { sure: 0, contested: 0, possible: 0, several: 0 };
    fc.assert(
      fc.property(fc.noBias(looks), (snapshot) => {
        for (const unit of snapshot.line) {
          const line = snapshot.line.filter((other) => compare(other, unit) <= 0);
          const found = explain({ ...snapshot, line }, unit.id);
          if (found.length < 2) continue;
          const reasons = inTurn({ ...snapshot, line }, unit.id, found, snapshot.line);
          assert.deepEqual(new Set(reasons.map(plain)), new Set(found.map(plain)));
          if (isContested(reasons)) {
            seen.contested += 1;
            if (found.length < 4 && ordersOf(found).some((order) => startsInTurn(snapshot, unit, order)))
              seen.possible += 1;
            continue;
          }
          seen.sure += 1;
          assert.ok(startsInTurn(snapshot, unit, reasons), `${unit.id} still waits`);
          if (!ordersOf(found).every((order) => startsInTurn(snapshot, unit, order))) seen.several += 1;
        }
      }),
      { numRuns: 500 },
    );
    console.log(seen);
  });
});

const plain = ({ contested: _, ...reason }: Reason): string => JSON.stringify(reason);
