/** The state of a step, from its row and the end of its unit. */
import { stoppedBy } from "../../core/run/fail-fast.ts";
import type { Because, ProgressState } from "../../core/run/progress.ts";
import type { StepMove, StepSeen } from "../../store/runs.ts";

/** Undefined for a step that is not open. */
export const isWaiting = ({ state, unit, fan }: StepSeen): boolean | undefined =>
  state === "open" ? unit === null && fan === null : undefined;

/** A step whose unit never started because another step failed is skipped, like one that was never in line. */
export function endOf(seen: StepSeen): StepMove {
  const { name, unit, body } = seen;
  const failed = stoppedBy(body);
  if (failed !== undefined) return { ...skipped(name, { kind: "failFast", step: failed }), unit };
  return { name, unit, body: null, state: stateOf(seen) as StepMove["state"] };
}

export function stateOf({ state, ended, body }: StepSeen): ProgressState {
  if (state !== "open" || ended === null) return state;
  if (stoppedBy(body) !== undefined) return "skipped";
  return ended === "succeeded" || ended === "cancelled" ? ended : "failed";
}

export const skipped = (name: string, because: Because): StepMove => ({
  name,
  state: "skipped",
  unit: null,
  body: JSON.stringify(because),
});
