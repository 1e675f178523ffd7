/** A step as a unit: its asks, its input, and what its worker and its recovery need to know. */
import { asksOfEveryTask } from "../../core/gate/asks.ts";
import { runGateKey } from "../../core/gate/key.ts";
import { optionsOfTask } from "../../core/unit-options.ts";
import type { TaskStep } from "../../core/workflow/graph.ts";
import type { LaneSpec } from "../../store/lane.ts";
import { laneOf } from "../../store/lane.ts";
import type { NewUnit, RunSeen } from "../../store/runs.ts";

export interface UnitSettings {
  newId(): string;
  /** How long a step may wait for its pools. */
  readonly claimTimeoutMs: number;
}

export function unitOf(
  run: RunSeen,
  step: TaskStep,
  /** Empty for a task that takes none, as `enqueue` stores it. */
  input: string,
  { newId, claimTimeoutMs }: UnitSettings,
  { lane, options }: Alike = alike(run, step),
): NewUnit {
  return {
    id: newId(),
    name: step.task,
    priority: step.priority ?? run.priority,
    lane,
    input,
    options,
    key: null,
    runAt: null,
    delayMs: null,
    goodUntil: null,
    goodForMs: null,
    step: step.name,
    claimTimeoutMs: step.asks.length > 0 ? claimTimeoutMs : null,
  };
}

/** The fields that all units of a step share. */
interface Alike {
  readonly lane: LaneSpec;
  readonly options: string;
}

export const alike = (run: RunSeen, step: TaskStep, lane = laneOfStep(run, step)): Alike => ({
  lane,
  options: optionsOf(run, step),
});

/** `window` is the gate of the step's items, in addition to what every unit of this step asks. */
export function laneOfStep(run: RunSeen, step: TaskStep, window?: string): LaneSpec {
  const own = [runGateKey(run.id, step.gate), ...(window ? [window] : [])];
  const asks = [
    ...asksOfEveryTask(step.queue),
    ...own.map((gate) => ({ gate, slots: 1 })),
    ...step.asks.map(([gate, slots]) => ({ gate, slots })),
  ];
  return laneOf(step.queue, step.task, asks);
}

/** True if one failed item keeps the others from starting. */
const isStopped = ({ each }: TaskStep): boolean => Boolean(each) && each?.onFailure !== "run-all";

const optionsOf = (run: RunSeen, step: TaskStep): string =>
  optionsOfTask({
    retry: step.retry,
    timeoutMs: step.timeoutMs,
    ...(step.onFailure ? { onFailure: step.onFailure } : {}),
    step: {
      run: run.id,
      name: step.name,
      ...(step.each ? { each: true } : {}),
      ...(isStopped(step) ? { stops: true } : {}),
    },
    ...(step.gate === "pods" && step.pod ? { pod: step.pod } : {}),
    ...(step.gate === "workers" ? { cpu: true } : {}),
  });
