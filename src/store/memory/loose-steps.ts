/** Steps that wait for a detached run, which outlives them. */
import type { StepRecord, Tables } from "./tables.ts";

/** The end of their run cancels them, unless the detached run has ended before. */
export function cancelLooseSteps(tables: Tables, run: string): void {
  for (const step of tables.step.of(run)) {
    const { state, unit } = step;
    if (state !== "open" || unit === null || tables.outcome.has(unit)) continue;
    if ((tables.task.get(unit)?.run ?? null) !== null) continue;
    tables.step.put({ ...step, state: "cancelled", body: JSON.stringify({ by: "run" }) });
  }
}

/** If the run ended before the step did, but the unit of the step has succeeded, a rerun has no need to run it again. */
export function asEarlier(tables: Tables, step: StepRecord): StepRecord {
  const { state, unit } = step;
  const isUnfinished = state === "open" || state === "cancelled";
  if (!isUnfinished || unit === null || tables.outcome.get(unit)?.state !== "succeeded") return step;
  return { ...step, state: "succeeded", body: null };
}
