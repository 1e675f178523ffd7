// Reads what a run over a list shows.

import type { StepView } from "../../../src/api/run-view.ts";
import type { Sluice } from "../../../src/index.ts";

export async function stepOf(sluice: Sluice, run: string, name: string): Promise<StepView> {
  const step = (await sluice.runs.get(run))?.steps.find((each) => each.name === name);
  if (!step) throw new Error(`run ${run} has no step ${name}`);
  return step;
}

/** How the items of a step ended, according to its result. */
export async function outcomesOf(
  sluice: Sluice,
  run: string,
  name: string,
): Promise<{ state: string; result?: unknown; error?: unknown }[]> {
  const { result } = await stepOf(sluice, run, name);
  if (!Array.isArray(result)) throw new Error(`step ${name} has no outcomes: ${JSON.stringify(result)}`);
  return result;
}
