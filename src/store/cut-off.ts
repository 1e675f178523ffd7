/**
 * The moves of one look that still count. If a run ends in this look, its children end with it, so what they would do is
 * left out. Otherwise a child could, for example, hand its failure to a task although it did not fail. Each child has
 * news of its own then. A failure in this look may also stop children that would start in it.
 */
import type { StepOf } from "../core/unit-options.ts";
import { storedOptions } from "../core/unit-options.ts";
import { failureOf } from "./failure-of.ts";
import type { RunMove, RunSeen } from "./runs.ts";

export function stillCounting(moves: readonly RunMove[], seen: ReadonlyMap<string, RunSeen>): RunMove[] {
  const optionsOf = (run: string): string => seen.get(run)?.options ?? "";
  const ended = new Set(moves.flatMap(({ run, finish }) => (finish ? [run] : [])));
  const stops = moves.flatMap((move) => stopsOf(move, optionsOf(move.run)));
  return moves.filter(({ run, finish }) => {
    const { scope, step } = storedOptions(optionsOf(run));
    if (!scope || !step) return true;
    if (ended.has(step.run)) return false;
    // A child may fail in its first look, and stop others.
    return seen.get(run)?.started === true || finish !== null || !stops.some((stop) => stop(step));
  });
}

type Stops = (step: StepOf) => boolean;

/** Which steps have units that may not start any more because of this move. */
function stopsOf({ run, finish, endItems, endLine }: RunMove, options: string): Stops[] {
  const failed = finish && finish.state !== "succeeded" ? failureOf(options) : undefined;
  const items = [
    ...endItems.map(({ step }) => ({ run, failed: step })),
    ...(failed?.stops === "items" ? [failed] : []),
  ];
  const runs = [...(endLine ? [run] : []), ...(failed?.stops === "run" ? [failed.run] : [])];
  return [
    (step) => items.some((one) => one.run === step.run && one.failed === step.name),
    (step) => runs.includes(step.run) && !step.handles,
  ];
}
