/** How long, within a window, any of these processes was kept from working. */
import type { Impairment } from "../history.ts";

/** The time that the machine itself took from all processes. */
export const noiseIn = (
  impairments: readonly Impairment[],
  window: { readonly from: number; readonly to: number },
): number =>
  impairedMs(
    impairments.filter(({ why }) => why === "noise"),
    [],
    window,
  );

/** Overlapping causes count once: two minutes of a frozen process without a store are two minutes. */
export function impairedMs(
  impairments: readonly Impairment[],
  pids: readonly number[],
  { from, to }: { readonly from: number; readonly to: number },
): number {
  const parts = impairments
    .filter((each) => (pids.includes(each.pid) || each.pid === 0) && each.to > from && each.from < to)
    .map((each) => ({ from: Math.max(from, each.from), to: Math.min(to, each.to) }))
    .sort((a, b) => a.from - b.from);
  let sum = 0;
  let reached = from;
  for (const part of parts) {
    sum += Math.max(0, part.to - Math.max(reached, part.from));
    reached = Math.max(reached, part.to);
  }
  return sum;
}
