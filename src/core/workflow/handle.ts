/** What a step is called by in the rest of its workflow: for its output, and for the ways in which it can end. */
import type { Need } from "./graph.ts";
import type { Reference } from "./reference.ts";
import { referTo } from "./reference.ts";

declare const yields: unique symbol;

export interface StepHandle<Output> extends StepEndings {
  /** Stands for what its task returns; null where it was skipped or failed. */
  readonly output: Reference<Output>;
  readonly [yields]: Output;
}

/** For `after`, whatever the step returns. The step itself means `succeeded`. */
export interface StepEndings {
  readonly name: string;
  readonly succeeded: Ending;
  readonly failed: Ending;
  /** In whatever way, skipped included. */
  readonly finished: Ending;
}

/** Registered, so that two copies of this package in one process know each other's. */
const ENDING = Symbol.for("sluice.ending");

export interface Ending extends Need {
  /** The one workflow under construction in which it may be used. */
  readonly [ENDING]: object;
}

export function handleOf(step: string, build: object): StepHandle<unknown> {
  const ending = (on: Need["on"]): Ending => Object.freeze({ step, on, [ENDING]: build });
  return Object.freeze({
    name: step,
    output: referTo({ build, source: { step, path: [] } }),
    succeeded: ending("succeeded"),
    failed: ending("failed"),
    finished: ending("finished"),
  }) as StepHandle<unknown>;
}

export function isHandle(value: unknown): value is StepHandle<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    // A reference has every field one asks for.
    Object.getPrototypeOf(value) === Object.prototype &&
    endingIn((value as StepHandle<unknown>).succeeded) !== undefined
  );
}

/** What `after` was given, and whose it is; undefined when it is neither a step nor one of its endings. */
export function endingIn(value: unknown): (Need & { readonly build: object }) | undefined {
  if (isHandle(value)) return endingIn(value.succeeded);
  const { step, on, [ENDING]: build } = (value ?? {}) as Partial<Ending>;
  return build && step !== undefined && on !== undefined ? { step, on, build } : undefined;
}
