/**
 * Gates that units in line ask for and that do not exist: they were swept just when the units came. A pass
 * creates them, and the next one decides. The gates of a run are left out, because only the run knows their
 * limits.
 */
import { pausedWith, unreadableKey } from "../core/gate/key.ts";
import { inByteOrder } from "../core/text.ts";
import { asksOf } from "./lane.ts";
import type { View } from "./store.ts";

export function unbornIn({ lanes, heads, gates }: Pick<View, "lanes" | "heads" | "gates">): string[] {
  const known = new Set([unreadableKey, ...gates.map(({ key }) => key)]);
  const waiting = new Set(heads.map(({ lane }) => lane));
  const asked = lanes.flatMap(({ id, asks }) => (waiting.has(id) ? asksOf(asks) : []));
  const missing = asked.flatMap(({ gate }) => (known.has(gate) || pausedWith(gate) !== gate ? [] : [gate]));
  return [...new Set(missing)].sort(inByteOrder);
}
