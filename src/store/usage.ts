import { asksOf } from "./lane.ts";
import type { Usage } from "./store.ts";

/** Slots held per gate: the units of each lane times what the lane asks of the gate. Lost holders count nowhere. */
export function heldPerGate(usage: readonly Usage[]): Map<string, number> {
  const held = new Map<string, number>();
  for (const row of usage) {
    if (row.lost || !row.held) continue;
    for (const { gate, slots } of asksOf(row.asks)) held.set(gate, (held.get(gate) ?? 0) + row.units * slots);
  }
  return held;
}
