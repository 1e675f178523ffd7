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

/** When the newest of a gate's grants was made. */
export function newestPerGate(
  grants: readonly { readonly asks: string; readonly at: number }[],
): Map<string, number> {
  const newest = new Map<string, number>();
  for (const { asks, at } of grants)
    for (const { gate } of asksOf(asks)) newest.set(gate, Math.max(at, newest.get(gate) ?? at));
  return newest;
}
