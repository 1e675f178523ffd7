/** The steps of a run that are no longer pending. */
import type { StepSeen } from "../runs.ts";
import type { StepRecord, Tables } from "./tables.ts";

export const stepsOf = (tables: Tables, run: string): StepRecord[] =>
  tables.step.of(run).sort((a, b) => (a.name < b.name ? -1 : 1));

/** Only of an open step it matters how its unit has ended. */
export function stepSeen(tables: Tables, { name, state, unit, body }: StepRecord): StepSeen {
  const ended = state === "open" ? tables.outcome.get(unit ?? "")?.state : undefined;
  return { name, state, unit, body, ended: ended ?? null };
}
