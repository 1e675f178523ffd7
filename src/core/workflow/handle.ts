/**
 * A handle by which the rest of a workflow refers to a step: to its output, and to the ways in which it can
 * end.
 */
import type { Need } from "./graph.ts";
import type { Reference } from "./reference.ts";
import { referTo } from "./reference.ts";

declare const yields: unique symbol;

export interface StepHandle<Output> extends StepEndings {
  /** Stands for what its task returns. Null if the step was skipped or failed. */
  readonly output: Reference<Output>;
  readonly [yields]: Output;
}

/** The handle of a step over a list. */
export interface EachHandle<Output> extends StepHandle<Output[]> {
  /** The results of its items, in their order. If the step failed, null for items without a result. */
  readonly output: Reference<Output[]>;
  /**
   * How its items ended, in their order, including failures. For steps that come after `finished` or
   * `failed`.
   */
  readonly outcomes: Reference<Outcome<Output>[]>;
}

/** How an item ended. `cancelled`: not started, or aborted, because another item failed. */
export type Outcome<Output> =
  | { state: "succeeded"; result: Output }
  | { state: "failed" | "cancelled"; error: ItemError | null };

/** The error of its last attempt, or why there was no attempt. */
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
  /** Any ending, including skipped. */
  readonly finished: StepEnding;
}

/** Registered, so that two copies of this package in one process recognize each other's endings. */
const ENDING = Symbol.for("sluice.ending");

export interface StepEnding extends Need {
  /** The workflow under construction. The ending may be used only there. */
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
    // A reference appears to have every field, so its prototype is checked first.
    Object.getPrototypeOf(value) === Object.prototype &&
    endingIn((value as StepHandle<unknown>).succeeded) !== undefined
  );
}

/** The ending that `after` was given, with its build. Undefined if it is neither a step nor an ending. */
export function endingIn(value: unknown): (Need & { readonly build: object }) | undefined {
  if (isHandle(value)) return endingIn(value.succeeded);
  const { step, on, [ENDING]: build } = (value ?? {}) as Partial<StepEnding>;
  return build && step !== undefined && on !== undefined ? { step, on, build } : undefined;
}
