// What the properties of the gates share: many lines by chance, and the words to ask about one of them.

import fc from "fast-check";
import type { Plan, Waiter } from "../../src/core/gate/admit.ts";
import type { Gate } from "../../src/core/gate/gate.ts";
import { inOrder } from "../../src/core/gate/order.ts";
import type { Case } from "./arbitrary-line.ts";
import { snapshots } from "./arbitrary-line.ts";

export const CASES = 10_000;

export const plain = snapshots();

/**
 * Checks the property in each case, and returns the share of cases in which it applied. Bias is off: the
 * numbers are small anyway, and short lines decide little.
 */
export function always<T>(cases: fc.Arbitrary<T>, property: (drawn: T) => boolean): number {
  let reached = 0;
  fc.assert(
    fc.property(fc.noBias(cases), (drawn) => {
      if (property(drawn)) reached++;
    }),
    { numRuns: CASES },
  );
  return reached / CASES;
}

export function asked(unit: Waiter, gate: string): number {
  return unit.asks.find((ask) => ask.gate === gate)?.slots ?? 0;
}

export function sum(units: readonly Waiter[], gate: string): number {
  return units.reduce((total, unit) => total + asked(unit, gate), 0);
}

export function gateOf({ gates }: Case, key: string): Gate | undefined {
  return gates.find((gate) => gate.key === key);
}

export function isOpen(gate: Gate | undefined): gate is Gate & { limit: number } {
  return gate !== undefined && gate.limit !== null && gate.limit !== 0 && !gate.paused;
}

export function waitingOf(snapshot: Case, plan: Plan): Waiter[] {
  return inOrder(snapshot.line).filter(({ id }) => plan.waiting.has(id));
}
