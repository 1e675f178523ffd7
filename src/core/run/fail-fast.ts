/**
 * After a failure in a run with `failFast`, steps that have not started end without starting: those that are pending,
 * and those that are in line. Steps that wait for a failure handle it, so they still get their turn.
 */
import type { Need } from "../workflow/graph.ts";

export const handlesFailure = ({ needs }: { readonly needs: readonly Need[] }): boolean =>
  needs.some(({ on }) => on !== "succeeded");

/** The body of the outcome of a unit that ended in line because this step of its run has failed. */
export const bodyOfStopped = (step: string): string => JSON.stringify({ by: "failFast", step });

/** The step whose failure ended a unit in line. Undefined for a unit that was cancelled for another reason. */
export function stoppedBy(body: string | null): string | undefined {
  if (!body?.startsWith('{"by":"failFast"')) return undefined;
  const { step } = JSON.parse(body) as { readonly step?: unknown };
  return typeof step === "string" ? step : undefined;
}
