/**
 * The decision of one look at runs: the moves of each run, or the data that has to be read first. It awaits
 * nothing and keeps nothing.
 */
import { SluiceError } from "../../core/error.ts";
import { MOST_LOADED, tooLarge } from "../../core/run/load.ts";
import type { Json } from "../../core/workflow/template.ts";
import type { Advance, Results, RunMove, RunSeen } from "../../store/runs.ts";
import { failed, nothing, RunLook } from "./run-look.ts";
import type { UnitSettings } from "./unit.ts";
import { Wanted } from "./wanted.ts";

interface AdvanceSettings extends UnitSettings {
  /** The most bytes that one look reads, and that it builds. */
  readonly most?: number;
}

export function advanceRuns(runs: readonly RunSeen[], results: Results, settings: AdvanceSettings): Advance {
  const wanted = new Wanted(results, settings.most ?? MOST_LOADED);
  const moves: RunMove[] = [];
  const later: string[] = [];
  for (const run of runs) {
    if (wanted.isFull) later.push(run.id);
    else moves.push(readably(run, () => new RunLook(run, wanted, settings).move(), wanted.most, settings));
  }
  return wanted.reading ?? { moves, later };
}

/** A damaged or too large run must not stop all others: it fails and says why. */
function readably(run: RunSeen, move: () => RunMove, most: number, settings: AdvanceSettings): RunMove {
  try {
    const { unread } = run;
    if (unread !== undefined)
      throw tooLarge("The run", [{ what: "its own input and its graph", size: unread }], most);
    return move();
  } catch (error) {
    return { ...nothing(run), finish: failed(run, errorOf(error), settings) };
  }
}

function errorOf(error: unknown): Json {
  if (error instanceof SluiceError && error.code === "DATA_TOO_LARGE")
    return { name: "Error", code: error.code, message: error.message };
  const message = `The stored graph of this run cannot be read: ${error instanceof Error ? error.message : error}`;
  return { name: "Error", code: "MALFORMED_RUN", message };
}
