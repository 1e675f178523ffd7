/** A step as a unit: its asks, its input, and what its worker and its recovery need to know. */
import { askOf, asksOfEveryTask } from "../../core/gate/asks.ts";
import { optionsOfTask } from "../../core/unit-options.ts";
import type { TaskStep, UnitStep } from "../../core/workflow/graph.ts";
import type { LaneSpec } from "../../store/lane.ts";
import { laneOf } from "../../store/lane.ts";
import type { NewUnit } from "../../store/runs.ts";
import { childOf, laneOfChild, optionsOfChild } from "./child.ts";
import type { Home } from "./home.ts";
import { executorGate } from "./home.ts";
import { stepOf } from "./step-of.ts";

export interface UnitSettings {
  newId(): string;
  /** How long a step may wait for its pools. */
  readonly claimTimeoutMs: number;
}

export function unitOf(
  home: Home,
  step: UnitStep,
  /** Empty for a task that takes none, as `enqueue` stores it. */
  input: string,
  { newId, claimTimeoutMs }: UnitSettings,
  { lane, options }: Alike = alike(home, step),
  item?: number,
): NewUnit {
  const isRun = step.kind === "run";
  return {
    id: newId(),
    name: isRun ? step.workflow : step.task,
    priority: step.priority ?? home.run.priority,
    lane,
    input,
    options: isRun ? optionsOfChild(home, step, item) : options,
    key: null,
    runAt: null,
    delayMs: null,
    goodUntil: null,
    goodForMs: null,
    step: step.name,
    ...(item === undefined ? {} : { item }),
    claimTimeoutMs: item === undefined && waitsForOthers(step) ? claimTimeoutMs : null,
    ...(isRun ? { child: childOf(home, step) } : {}),
  };
}

/** It asks for gates that other runs ask for, too. A run of its own may wait in the line of runs for any time. */
export const waitsForOthers = (step: UnitStep): boolean =>
  step.asks.length > 0 && !(step.kind === "run" && step.detached);

/** The fields that all units of a step share. */
interface Alike {
  readonly lane: LaneSpec;
  /** Those of child runs differ, because each has its own path. */
  readonly options: string;
}

export const alike = (home: Home, step: UnitStep, lane = laneOfStep(home, step)): Alike => ({
  lane,
  options: step.kind === "run" ? "" : optionsOf(home, step),
});

/** `window` is the gate of the step's items, in addition to what every unit of this step asks. */
export function laneOfStep(home: Home, step: UnitStep, window?: string): LaneSpec {
  if (step.kind === "run") return laneOfChild(home, step, window);
  const own = [executorGate(home, step), ...home.ofLeaves, ...(window ? [window] : [])];
  const asks = [
    ...asksOfEveryTask(step.queue),
    ...own.map((gate) => ({ gate, slots: 1 })),
    ...step.asks.map(askOf),
  ];
  return laneOf(step.queue, step.task, asks);
}

const optionsOf = (home: Home, step: TaskStep): string =>
  optionsOfTask({
    retry: step.retry,
    timeoutMs: step.timeoutMs,
    ...(step.onFailure ? { onFailure: step.onFailure } : {}),
    step: stepOf(home, step),
    ...(step.gate === "pods" && step.pod ? { pod: step.pod } : {}),
    ...(step.gate === "workers" ? { cpu: true } : {}),
  });
