// Gates and a line in the fewest words, decided in the order in which the units are listed.

import type { Plan, Snapshot, Waiter } from "../../src/core/gate/admit.ts";
import { admit } from "../../src/core/gate/admit.ts";
import type { Gate, Limit, Line } from "../../src/core/gate/gate.ts";

export function gate(key: string, line: Line, limit: Limit, held = 0): Gate {
  return { key, limit, paused: false, line, held };
}

export type Asks = Readonly<Record<string, number>>;

export function unit(id: string, asks: Asks, more: Partial<Waiter> = {}): Waiter {
  const lane = JSON.stringify(asks);
  const list = Object.entries(asks).map(([gate, slots]) => ({ gate, slots }));
  return { id, rank: 1, priority: 0, at: 0, lane, asks: list, ...more };
}

/** Decides the units in the order in which they are listed. */
export function decide(gates: readonly Gate[], units: readonly Waiter[], more: Partial<Snapshot> = {}): Plan {
  return admit({ now: 0, gates, line: units.map((one, at) => ({ ...one, at })), ...more });
}

export const started = (plan: Plan): string[] => plan.admitted.map(({ id }) => id);
export const left = (plan: Plan): string[] => plan.left.map(({ id }) => id);
export const kinds = (plan: Plan, id: string): string[] | undefined =>
  plan.waiting.get(id)?.map((reason) => ("gate" in reason ? `${reason.kind} ${reason.gate}` : reason.kind));
