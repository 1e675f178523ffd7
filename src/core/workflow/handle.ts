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

/** Of a step over a list. */
export interface EachHandle<Output> extends StepHandle<Output[]> {
  /** What its items came to, in their order; where it has failed, null for those that gave nothing. */
  readonly output: Reference<Output[]>;
  /** How its items ended, in their order, failures included; for steps that come after `finished` or `failed`. */
  readonly outcomes: Reference<Outcome<Output>[]>;
}

/** How an item ended. `cancelled`: not started, or aborted, because another one failed. */
export type Outcome<Output> =
  | { state: "succeeded"; result: Output }
  | { state: "failed" | "cancelled"; error: ItemError | null };

/** What its last attempt threw, or why there was none. */
export interface ItemError {
  name: string;
  message: string;
  code?: string;
  stack?: string;
}

/** For `after`, whatever the step returns. The step itself means `succeeded`. */
export interface StepEndings {
  readonly name: string;
  readonly succeeded: StepEnding;
  readonly failed: StepEnding;
  /** In whatever way, skipped included. */
  readonly finished: StepEnding;
}

/** Registered, so that two copies of this package in one process know each other's. */
const ENDING = Symbol.for("sluice.ending");

export interface StepEnding extends Need {
  /** The one workflow under construction in which it may be used. */
  readonly [ENDING]: object;
}

export function handleOf(step: string, build: object): StepHandle<unknown> {
  return Object.freeze(fieldsOf(step, build)) as StepHandle<unknown>;
}

export function eachHandleOf(step: string, build: object): EachHandle<unknown> {
  const outcomes = referTo({ build, source: { outcomes: step, path: [] } });
  return Object.freeze({ ...fieldsOf(step, build), outcomes }) as EachHandle<unknown>;
}

function fieldsOf(step: string, build: object): StepEndings & { readonly output: Reference<unknown> } {
  const ending = (on: Need["on"]): StepEnding => Object.freeze({ step, on, [ENDING]: build });
  return {
    name: step,
    output: referTo({ build, source: { step, path: [] } }),
    succeeded: ending("succeeded"),
    failed: ending("failed"),
    finished: ending("finished"),
  };
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
  const { step, on, [ENDING]: build } = (value ?? {}) as Partial<StepEnding>;
  return build && step !== undefined && on !== undefined ? { step, on, build } : undefined;
}
