/**
 * The decision of one look at runs: the moves of each run, or the data that has to be read first. It awaits
 * nothing and keeps nothing.
 */
import type { Advance, Results, RunMove, RunSeen } from "../../store/runs.ts";
import { failed, nothing, RunLook } from "./run-look.ts";
import type { UnitSettings } from "./unit.ts";
import { Wanted } from "./wanted.ts";

type AdvanceSettings = UnitSettings;

export function advanceRuns(runs: readonly RunSeen[], results: Results, settings: AdvanceSettings): Advance {
  const wanted = new Wanted(results);
  const moves = runs.map((run) => readably(run, settings, () => new RunLook(run, wanted, settings).move()));
  return wanted.reading ?? { moves: moves.flatMap((move) => move ?? []) };
}

/** A damaged run must not stop all others: it fails and says why. */
function readably(
  run: RunSeen,
  settings: AdvanceSettings,
  move: () => RunMove | undefined,
): RunMove | undefined {
  try {
    return move();
  } catch (error) {
    const message = `The stored graph of this run cannot be read: ${error instanceof Error ? error.message : error}`;
    const finish = failed(run, { name: "Error", code: "MALFORMED_RUN", message }, settings);
    return { ...nothing(run), finish };
  }
}
