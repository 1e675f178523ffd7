/** What the failure of a unit means for its run: the news, and which other units may no longer start. */
import { storedOptions } from "../core/unit-options.ts";
import type { News } from "./ports/reports.ts";

/** `options` are those of the unit that has failed. Undefined if it is no step of a run. */
export function failureOf(options: string): News | undefined {
  const { step } = storedOptions(options);
  if (!step) return undefined;
  const stops = step.stops ? "items" : step.failsFast ? "run" : undefined;
  return { run: step.run, failed: step.name, ...(stops ? { stops } : {}) };
}
