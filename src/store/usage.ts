import { asksOf } from "./lane.ts";
import type { Holding, Usage } from "./store.ts";

/** A claim that the pass has locked and takes away. */
export interface InHand {
  readonly lane: string;
  readonly session: string;
  readonly held: boolean;
}

/**
 * A claim that seems lost stops counting only for the pass that has locked it and takes it away. If the pass
 * cannot take it, because its holder is writing it or there are too many, a renewal on its way may revive it.
 * So it counts until a pass has taken it away.
 */
export function unlessInHand(usage: readonly Usage[], inHand: readonly InHand[]): Usage[] {
  const keyOf = ({ lane, session, held }: InHand): string => `${lane} ${session} ${held}`;
  const taken = new Map<string, number>();
  for (const claim of inHand) taken.set(keyOf(claim), (taken.get(keyOf(claim)) ?? 0) + 1);
  return usage.flatMap((row) => {
    const lost = row.lost ? (taken.get(keyOf(row)) ?? 0) : 0;
    if (!row.lost || lost === row.units) return [row];
    const counting = { ...row, lost: false, units: row.units - lost };
    return lost > 0 ? [{ ...row, units: lost }, counting] : [counting];
  });
}

/** Slots held per gate: the units of each lane times its ask at the gate. Lost holders count nowhere. */
export function heldPerGate(usage: readonly Holding[]): Map<string, number> {
  const held = new Map<string, number>();
  for (const row of usage) {
    if (row.lost || !row.held) continue;
    for (const { gate, slots } of asksOf(row.asks)) held.set(gate, (held.get(gate) ?? 0) + row.units * slots);
  }
  return held;
}

/** When the newest grant of each gate was made. */
export function newestPerGate(
  grants: readonly { readonly asks: string; readonly at: number }[],
): Map<string, number> {
  const newest = new Map<string, number>();
  for (const { asks, at } of grants)
    for (const { gate } of asksOf(asks)) newest.set(gate, Math.max(at, newest.get(gate) ?? at));
  return newest;
}
