import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Case } from "../../../test/support/arbitrary-line.ts";
import { chance, shuffled, snapshots } from "../../../test/support/arbitrary-line.ts";
import {
  always,
  asked,
  CASES,
  gateOf,
  isOpen,
  plain,
  sum,
  waitingOf,
} from "../../../test/support/many-lines.ts";
import { naiveAdmit } from "../../../test/support/naive-admit.ts";
import type { Plan, Waiter } from "./admit.ts";
import { admit } from "./admit.ts";
import { draining } from "./gate.ts";
import { compare, inOrder } from "./order.ts";
import type { Reason } from "./reason.ts";

const all = { frontiers: true, workers: true, horizon: true };
const everything = fc.oneof(
  { arbitrary: snapshots(all), weight: 3 },
  { arbitrary: snapshots({ ...all, tight: true }), weight: 1 },
  { arbitrary: snapshots({ ...all, skips: true }), weight: 1 },
);

/** True if all reasons are about slots of strict gates and pools. */
function standsInLine(reasons: readonly Reason[] | undefined, snapshot: Case): boolean {
  return (reasons ?? []).every(
    (reason) =>
      (reason.kind === "full" || reason.kind === "behind") && gateOf(snapshot, reason.gate)?.line !== "skip",
  );
}

function isOver(unit: Waiter, { now, bypass }: Case): boolean {
  const { passed, since } = unit.mark?.unit === unit.id ? unit.mark : { passed: 0, since: now };
  return passed >= bypass.passes || now - since >= bypass.ms;
}

describe("whatever the line and the gates", () => {
  it("no gate goes above its limit, and a gate that is draining, paused or unset gains nothing", () => {
    const atTheLimit = always(everything, (snapshot) => {
      const plan = admit(snapshot);
      for (const gate of snapshot.gates) {
        const held = (plan.held.get(gate.key) as number) + sum(plan.left, gate.key);
        if (!isOpen(gate) || draining(gate)) assert.equal(held, gate.held, `${gate.key} gained slots`);
        else if (gate.limit > 0) assert.ok(held <= gate.limit, `${gate.key}: ${held}/${gate.limit}`);
      }
      return snapshot.gates.some(({ key, limit, held }) => held !== limit && plan.held.get(key) === limit);
    });
    expect(atTheLimit).toBeGreaterThan(0.1);
  });

  it("a unit takes everything it asks for or nothing", () => {
    const several = always(everything, (snapshot) => {
      const plan = admit(snapshot);
      for (const { key, held } of snapshot.gates) {
        assert.equal(plan.held.get(key), held + sum(plan.admitted, key), key);
      }
      const known = new Set(snapshot.gates.map(({ key }) => key));
      for (const unit of [...plan.admitted, ...plan.left]) {
        assert.ok(!plan.waiting.has(unit.id), `${unit.id} both starts and waits`);
        assert.ok(unit.asks.every(({ gate }) => known.has(gate), `${unit.id} passed an unknown gate`));
      }
      return plan.admitted.some(({ asks }) => asks.length > 1);
    });
    expect(several).toBeGreaterThan(0.2);
  });

  it("everybody before the end of the snapshot is decided once, and never the last known of a longer lane", () => {
    const cut = always(everything, (snapshot) => {
      const plan = admit(snapshot);
      const decided = [...plan.admitted, ...plan.left].map(({ id }) => id).concat(...plan.waiting.keys());
      assert.equal(new Set(decided).size, decided.length);
      const shown = inOrder(snapshot.line).filter(({ frontier }) => !frontier);
      const seen = shown.filter(({ id }) => decided.includes(id));
      assert.deepEqual(seen, shown.slice(0, decided.length), "a gap in the line");
      if (!plan.more) assert.equal(decided.length, shown.length);
      return plan.more;
    });
    expect(cut).toBeGreaterThan(0.2);
  });

  it("a waiting unit is never passed by one that took all it wanted", () => {
    const passed = always(plain, (snapshot) => {
      const plan = admit(snapshot);
      assert.deepEqual(plan.admitted, inOrder(plan.admitted), "not in order");
      let overtakes = 0;
      for (const waiter of waitingOf(snapshot, plan)) {
        for (const other of plan.admitted.filter((unit) => compare(unit, waiter) > 0)) {
          overtakes++;
          const covers = waiter.asks.every(({ gate, slots }) => asked(other, gate) >= slots);
          assert.ok(!covers, `${other.id} passed ${waiter.id}, which would have fitted in its stead`);
        }
      }
      return overtakes > 0;
    });
    expect(passed).toBeGreaterThan(0.2);
  });

  it("nobody behind a unit changes what is decided about it", () => {
    const cases = fc.tuple(everything, fc.nat(9));
    const cut = always(cases, ([snapshot, length]) => {
      const order = inOrder(snapshot.line);
      const line = order.slice(0, length);
      const whole = admit(snapshot);
      const part = admit({ ...snapshot, line });
      const kept = new Set(line.map(({ id }) => id));
      assert.deepEqual(
        part.admitted,
        whole.admitted.filter(({ id }) => kept.has(id)),
      );
      assert.deepEqual(
        part.left,
        whole.left.filter(({ id }) => kept.has(id)),
      );
      assert.deepEqual(
        [...part.waiting],
        [...whole.waiting].filter(([id]) => kept.has(id)),
      );
      return whole.admitted.length > part.admitted.length;
    });
    expect(cut).toBeGreaterThan(0.1);
  });

  it("at a strict gate a unit starts exactly when held, those ahead in line and its own fit", () => {
    let starts = 0;
    const heldBack = always(plain, (snapshot) => {
      const plan = admit(snapshot);
      const before: Waiter[] = [];
      const inLine: Waiter[] = [];
      let behind = false;
      for (const unit of inOrder(snapshot.line)) {
        const reasons = plan.waiting.get(unit.id);
        for (const { gate: key, slots } of unit.asks) {
          const gate = gateOf(snapshot, key);
          if (gate?.line !== "strict" || !isOpen(gate) || gate.limit < 0) continue;
          const held = gate.held + sum(before, key);
          const ahead = sum(inLine, key);
          const reason = reasons?.find((one) => "gate" in one && one.gate === key);
          const fits = held + ahead + slots <= gate.limit;
          if (!reasons) assert.ok(fits, `${unit.id} jumped the line at ${key}`);
          if (!reasons && ahead > 0) starts++;
          assert.equal(fits, !reason, `${unit.id} at ${key}`);
          if (reason?.kind === "behind") {
            behind = true;
            assert.ok(held + slots <= gate.limit, `${unit.id} is not only behind at ${key}`);
            assert.equal(reason.front.unit, inLine.find((one) => asked(one, key) > 0)?.id);
          }
        }
        if (!reasons) before.push(unit);
        else if (standsInLine(reasons, snapshot)) inLine.push(unit);
      }
      return behind;
    });
    expect(heldBack).toBeGreaterThan(0.1);
    expect(starts).toBeGreaterThan(CASES / 100);
  });

  it("no slot stays free that somebody waiting may take", () => {
    let gathered = 0;
    const kept = always(plain, (snapshot) => {
      const plan = admit(snapshot);
      const waiting = waitingOf(snapshot, plan);
      let free = false;
      waiting.forEach((unit, index) => {
        const inLine = waiting
          .slice(0, index)
          .filter(({ id }) => standsInLine(plan.waiting.get(id), snapshot));
        const reasons = plan.waiting.get(unit.id) as readonly Reason[];
        const blocked = unit.asks.some(({ gate: key, slots }) => {
          const gate = gateOf(snapshot, key);
          if (!isOpen(gate)) return true;
          if (gate.limit < 0) return false;
          const held = plan.held.get(key) as number;
          if (held + slots > gate.limit) return true;
          free = true;
          if (gate.line === "strict") return held + sum(inLine, key) + slots > gate.limit;
          const reason = reasons.find((one) => one.kind === "behind" && one.gate === key);
          if (gate.line === "skip" || reason?.kind !== "behind") return false;
          const front = waiting.slice(0, index).find(({ id }) => id === reason.front.unit);
          assert.ok(front && isOver(front, snapshot), `${key} is kept for ${reason.front.unit} without need`);
          gathered++;
          return held + asked(front, key) + slots > gate.limit;
        });
        assert.ok(blocked, `${unit.id} waits and could start`);
      });
      return free;
    });
    expect(kept).toBeGreaterThan(0.2);
    expect(gathered).toBeGreaterThan(CASES / 50);
  });

  it("decision, reasons and marks are those of the slow and obvious walk", () => {
    const kinds = new Map<string, number>();
    const reserved = always(everything, (snapshot) => {
      const { free, unseen, ...plan } = admit(snapshot);
      expect(unseen.size).toBe(0);
      for (const { key, limit, paused } of snapshot.gates) {
        if (limit === null || paused || limit < 0) continue;
        expect(free.get(key)).toBeLessThanOrEqual(Math.max(0, limit - (plan.held.get(key) ?? 0)));
      }
      const expected = naiveAdmit(snapshot);
      if (!isDeepStrictEqual(plan, expected)) assert.deepEqual(plan, expected);
      const all = [...plan.waiting.values()].flat();
      for (const kind of new Set(all.map((reason) => reason.kind))) {
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      }
      return all.some(
        (reason) => reason.kind === "behind" && gateOf(snapshot, reason.gate)?.line === "bypass",
      );
    });
    expect(reserved).toBeGreaterThan(0.01);
    const often = ["full", "behind", "paused", "unset", "never", "busy", "noWorker"];
    for (const kind of often) expect(kinds.get(kind) ?? 0, kind).toBeGreaterThan(CASES / 50);
  });

  it("the order of the input does not matter", () => {
    const cases = fc.tuple(everything, fc.integer());
    const moved = always(cases, ([snapshot, seed]) => {
      const random = chance(seed);
      const line = shuffled(snapshot.line, random);
      const gates = shuffled(snapshot.gates, random);
      const plan = admit(snapshot);
      const other = admit({ ...snapshot, line, gates });
      if (!isDeepStrictEqual(plan, other)) assert.deepEqual(other, plan);
      return line.some((unit, index) => unit !== snapshot.line[index]) && plan.waiting.size > 0;
    });
    expect(moved).toBeGreaterThan(0.3);
  });
});

describe("pass after pass, while nothing ends", () => {
  function carriedOut(snapshot: Case, plan: Plan): Case {
    const { me, workers } = snapshot;
    const ids = new Set(plan.admitted.map(({ id }) => id));
    return {
      ...snapshot,
      gates: snapshot.gates.map((gate) => ({ ...gate, held: plan.held.get(gate.key) as number })),
      line: snapshot.line
        .filter(({ id }) => !ids.has(id))
        .map((unit) => ({ ...unit, mark: plan.marks.get(unit.lane) ?? unit.mark })),
      ...(workers && {
        workers: workers.map((worker, i) =>
          i === me ? { ...worker, used: worker.used + ids.size } : worker,
        ),
      }),
    };
  }

  /** The last plan, the snapshot it was made from, and the number of plans before it. */
  function lastOf(snapshot: Case): { plan: Plan; of: Case; before: number } {
    let of = snapshot;
    let plan = admit(of);
    let before = 0;
    for (; plan.more; before++) {
      assert.ok(plan.admitted.length > 0, "more to admit, though nothing changes");
      of = carriedOut(of, plan);
      plan = admit(of);
    }
    return { plan, of, before };
  }

  it("there is soon no more to admit, and then there is indeed no more", () => {
    const never = { passes: Number.POSITIVE_INFINITY, ms: Number.POSITIVE_INFINITY };
    const again = always(snapshots({ tight: true }), (snapshot) => {
      const { plan, of, before } = lastOf({ ...snapshot, bypass: never });
      assert.deepEqual(admit(carriedOut(of, plan)).admitted, []);
      return before > 0;
    });
    expect(again).toBeGreaterThan(0.001);
  });

  it("there is soon no more to admit for one of several workers, though the others take nothing", () => {
    const cases = snapshots({ tight: true, workers: true }).filter(({ me }) => me !== undefined);
    const again = always(cases, (snapshot) => lastOf(snapshot).before > 0);
    expect(again).toBeGreaterThan(0.0005);
  });
});
