/** What a unit of a step stores about its step: whose step it is, and what its failure means for other units. */
import { handlesFailure } from "../../core/run/fail-fast.ts";
import type { StepOf } from "../../core/unit-options.ts";
import type { UnitStep } from "../../core/workflow/graph.ts";
import type { Home } from "./home.ts";

/** The failure of an item is not yet the failure of its step: that one ends with its last item. */
export function stepOf({ run, failFast }: Home, step: UnitStep): StepOf {
  const { name, each, mayFail } = step;
  return {
    ...(failFast && handlesFailure(step) ? { handles: true } : {}),
    run: run.id,
    name,
    ...(each ? { each: true } : {}),
    ...(each && each.onFailure !== "run-all" ? { stops: true } : {}),
    ...(failFast && !each && !mayFail ? { failsFast: true } : {}),
  };
}
