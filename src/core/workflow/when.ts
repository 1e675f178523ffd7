/**
 * How a step's condition is written: `when(x)`, `equal(a, b)`, `less`, `greater`, `not`, `all`, `any`. Each
 * becomes a stored Condition only where it is used, because only a workflow knows which references are its
 * own.
 */
import { SluiceError } from "../error.ts";
import type { Condition } from "./condition.ts";
import type { StandsFor } from "./reference.ts";
import { referredBy } from "./reference.ts";
import type { Template } from "./template.ts";
import type { Wired } from "./wired.ts";

const READ = Symbol.for("sluice.condition");

interface Reading {
  /** Turns a user's value into a template. */
  readonly wire: (value: unknown) => Template;
  /** Begins a message: the workflow, the step and its option. */
  readonly whose: string;
}

export interface StepCondition {
  readonly [READ]: (reading: Reading) => Condition;
}

type Missing = null | undefined;

/** Holds if the value exists and is not false, 0, "" or an empty list. */
export function when(value: StandsFor<unknown>): StepCondition {
  return condition((reading) => ({ is: "true", value: reading.wire(value) }));
}

export function equal<T>(left: StandsFor<T>, right: NoInfer<Wired<T>> | null): StepCondition {
  return condition((reading) => ({ is: "equal", left: reading.wire(left), right: reading.wire(right) }));
}

/** Compares numbers by size and texts by their letters. For all other values it does not hold. */
export function less(left: StandsFor<number | Missing>, right: Wired<number | Missing>): StepCondition;
export function less(left: StandsFor<string | Missing>, right: Wired<string | Missing>): StepCondition;
export function less(left: unknown, right: unknown): StepCondition {
  return condition((reading) => ({ is: "less", left: reading.wire(left), right: reading.wire(right) }));
}

export function greater(left: StandsFor<number | Missing>, right: Wired<number | Missing>): StepCondition;
export function greater(left: StandsFor<string | Missing>, right: Wired<string | Missing>): StepCondition;
export function greater(left: unknown, right: unknown): StepCondition {
  return condition((reading) => ({ is: "greater", left: reading.wire(left), right: reading.wire(right) }));
}

export function not(negated: StepCondition): StepCondition {
  return condition((reading) => ({ is: "not", condition: readCondition(negated, reading) }));
}

export function all(...conditions: readonly StepCondition[]): StepCondition {
  return condition((reading) => ({
    is: "all",
    conditions: conditions.map((each) => readCondition(each, reading)),
  }));
}

export function any(...conditions: readonly StepCondition[]): StepCondition {
  return condition((reading) => ({
    is: "any",
    conditions: conditions.map((each) => readCondition(each, reading)),
  }));
}

const condition = (read: (reading: Reading) => Condition): StepCondition => Object.freeze({ [READ]: read });

/** The condition as it is stored. */
export function readCondition(written: unknown, reading: Reading): Condition {
  const read = referredBy(written) ? undefined : (written as Partial<StepCondition> | null)?.[READ];
  if (read) return read(reading);
  throw new SluiceError(
    "BAD_WORKFLOW",
    `${reading.whose}: a condition must come from when(…), equal(…), less(…), greater(…), not(…), all(…) or any(…), but this one is ${referredBy(written) ? "a bare reference: write when(…) around it" : "something else"}.`,
  );
}
