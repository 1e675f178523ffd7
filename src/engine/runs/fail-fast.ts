/**
 * The move of a run with `failFast` in which a step fails: steps in line end in the same transaction. That includes
 * units that this move puts in line.
 *
 * The pass that records the failure of a task, and the end of a child run, have ended these units already. But they
 * leave out units that are locked, and other failures are recorded only here: that of a list or of a wait.
 */
import { handlesFailure } from "../../core/run/fail-fast.ts";
import type { Graph } from "../../core/workflow/graph.ts";
import type { RunMove, RunSeen, StepMove } from "../../store/runs.ts";

export function failingFast(move: RunMove, run: RunSeen, graph: Graph): RunMove {
  if (!graph.failFast || move.finish) return move;
  const moved = new Map(move.steps.map((step) => [step.name, step]));
  const failed = graph.steps.find(({ name, mayFail }) => !mayFail && isFailure(moved.get(name)));
  if (!failed) return move;
  const mayStart = new Set(graph.steps.filter(handlesFailure).map(({ name }) => name));
  const lists = run.steps.flatMap(({ name, state, fan }): StepMove[] =>
    state === "open" && fan && !moved.has(name) ? [{ name, state, unit: null, body: null, fan }] : [],
  );
  const steps = [...move.steps, ...lists].map((step) => (mayStart.has(step.name) ? step : withoutMore(step)));
  return { ...move, steps, endLine: { because: failed.name }, again: true };
}

const isFailure = (step: StepMove | undefined): boolean =>
  step?.state === "failed" || step?.state === "cancelled";

/** Items that were not created yet never will be. */
function withoutMore(step: StepMove): StepMove {
  const { state, fan } = step;
  if (state !== "open" || !fan) return step;
  const { lane, total } = fan;
  return { ...step, fan: { lane, total, created: total } };
}
