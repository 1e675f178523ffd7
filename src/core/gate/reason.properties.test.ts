import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Case } from "../../../test/support/arbitrary-line.ts";
import { always, CASES, plain, waitingOf } from "../../../test/support/many-lines.ts";
import type { Plan, Waiter } from "./admit.ts";
import { admit } from "./admit.ts";
import type { Gate } from "./gate.ts";
import { gatesNamed } from "./reason.ts";

describe("lifting what a reason names", () => {
  const withOneWaiting = fc.tuple(plain, fc.nat(9));

  function pick(snapshot: Case, plan: Plan, which: number): Waiter | undefined {
    const waiting = waitingOf(snapshot, plan);
    return waiting[which % waiting.length];
  }

  it("a unit that does not ask for what it waits for starts, and would not if it still asked for one of it", () => {
    const tried = always(withOneWaiting, ([snapshot, which]) => {
      const plan = admit(snapshot);
      const unit = pick(snapshot, plan, which);
      if (!unit) return false;
      const named = (plan.waiting.get(unit.id) ?? []).map((reason) => ("gate" in reason ? reason.gate : ""));
      const without = (dropped: readonly string[]): Plan => {
        const asks = unit.asks.filter(({ gate }) => !dropped.includes(gate));
        return admit({
          ...snapshot,
          line: snapshot.line.map((one) => (one === unit ? { ...unit, asks } : one)),
        });
      };
      assert.ok(
        without(named).admitted.some(({ id }) => id === unit.id),
        `${unit.id} still waits`,
      );
      for (const needed of named) {
        const plan = without(named.filter((gate) => gate !== needed));
        assert.ok(plan.waiting.has(unit.id), `${needed} was not in the way of ${unit.id}`);
      }
      return named.length > 1;
    });
    expect(tried).toBeGreaterThan(0.1);
  });

  it("the first in line starts at once, any other after as many liftings as there are gates at most", () => {
    let behind = 0;
    const often = always(withOneWaiting, ([snapshot, which]) => {
      let plan = admit(snapshot);
      const first = waitingOf(snapshot, plan)[0];
      const unit = pick(snapshot, plan, which);
      if (!first || !unit) return false;
      const lifted = new Set<string>();
      let rounds = 0;
      while (plan.waiting.has(unit.id)) {
        const reasons = plan.waiting.get(unit.id) ?? [];
        if (reasons.some(({ kind }) => kind === "behind")) behind++;
        const named = gatesNamed(reasons);
        assert.ok(
          [...named].some((key) => !lifted.has(key)),
          "nothing new was named",
        );
        for (const key of named) lifted.add(key);
        plan = admit({ ...snapshot, gates: lift(snapshot.gates, lifted) });
        rounds++;
        if (unit === first) break;
      }
      assert.ok(
        plan.admitted.some(({ id }) => id === unit.id),
        `${unit.id} still waits`,
      );
      assert.ok(rounds <= 4);
      return rounds > 1;
    });
    expect(often).toBeGreaterThan(0.02);
    expect(behind).toBeGreaterThan(CASES / 20);
  });

  function lift(gates: readonly Gate[], lifted: ReadonlySet<string>): Gate[] {
    const untouched = gates.filter(({ key }) => !lifted.has(key));
    const open = [...lifted].map((key): Gate => {
      const gate = gates.find((one) => one.key === key);
      return { key, limit: -1, paused: false, line: gate?.line ?? "skip", held: gate?.held ?? 0 };
    });
    return [...untouched, ...open];
  }
});
