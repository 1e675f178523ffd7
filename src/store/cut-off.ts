/**
 * The moves of one look that still count. If a run ends in this look, its children end with it, so what they would do is
 * left out. Otherwise a child could, for example, hand its failure to a task although it did not fail. Each child has
 * news of its own then.
 */
import { storedOptions } from "../core/unit-options.ts";
import type { RunMove, RunSeen } from "./runs.ts";

export function stillCounting(moves: readonly RunMove[], seen: ReadonlyMap<string, RunSeen>): RunMove[] {
  const ended = new Set(moves.flatMap(({ run, finish }) => (finish ? [run] : [])));
  return moves.filter(({ run }) => {
    const { scope, step } = storedOptions(seen.get(run)?.options ?? "");
    return !scope || !step || !ended.has(step.run);
  });
}
