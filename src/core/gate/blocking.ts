/** The keys under which a lane's wait is recorded. */
import type { Gate } from "./gate.ts";
import { obstacle } from "./gate.ts";
import { pausedWith } from "./key.ts";
import type { Reason } from "./reason.ts";

/**
 * Sorted, each key once. A wait for a paused gate is recorded as a wait for the pause. All gates of a run
 * share one pause, so the gate itself is named only while it has no room either.
 */
export function blockingKeys(
  reasons: readonly Reason[],
  gateOf: (key: string) => Gate | undefined,
  slotsAt: (key: string) => number,
): string[] {
  const keys = reasons.flatMap((reason) => {
    if (!("gate" in reason)) return [];
    const gate = gateOf(reason.gate);
    if (!gate?.paused) return [reason.gate];
    const pause = pausedWith(gate.key);
    return isFullAnyway(gate, slotsAt(gate.key)) ? [pause, gate.key] : [pause];
  });
  return [...new Set(keys)].sort();
}

/** True if a resume would not be enough. */
const isFullAnyway = (gate: Gate, slots: number): boolean =>
  obstacle({ ...gate, paused: false }, gate.held, 0, slots) === "full";
