/** Which finished steps of an earlier run need not run again. */
import type { Need } from "../workflow/graph.ts";

interface StepOf {
  readonly name: string;
  readonly needs: readonly Need[];
}

/**
 * The names of steps that succeeded, are still in the workflow, and do not depend on a step that runs again (as a failure
 * handler does). Skipped steps are decided anew. Every step comes after those it needs.
 */
export function keptSteps(steps: readonly StepOf[], before: ReadonlyMap<string, string>): string[] {
  const settled = new Set<string>();
  return steps.flatMap(({ name, needs }) => {
    const state = before.get(name);
    const isOver = state === "succeeded" || state === "skipped";
    if (!isOver || !needs.every((need) => settled.has(need.step))) return [];
    settled.add(name);
    return state === "succeeded" ? [name] : [];
  });
}
