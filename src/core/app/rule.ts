/**
 * The small rules that checks are built from. Each looks at one value and yields its problem, if any. A
 * missing value is never a problem here, because defaults are not checked.
 */
import type { Problem } from "../error.ts";
import { SluiceError } from "../error.ts";
import { isWithin, MOST_PRIORITY, MOST_SLOTS } from "../number.ts";
import { shortly } from "../text.ts";
import { parseDuration } from "../time.ts";
import { referredBy, saySource } from "../workflow/reference.ts";

export type Problems = Iterable<Problem>;

/**
 * True for anything with fields. A definition may come from a file that was never type-checked. A Date, a Map
 * or a promise has no fields of its own, so it would count as a record with nothing in it.
 */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return isPlain(value) || Object.keys(value).length > 0;
}

/** Also true for an object of another realm, such as a test runner's. */
function isPlain(value: object): boolean {
  const parent: unknown = Object.getPrototypeOf(value);
  return parent === null || Object.getPrototypeOf(parent) === null;
}

/**
 * The fields of a value that should be an object, or none. `mustBeRecord` reports a value that is not one.
 */
export function entriesOf(value: unknown): [string, unknown][] {
  return isRecord(value) ? Object.entries(value) : [];
}

export function* mustBeRecord(field: string, value: unknown, like: string): Problems {
  if (value === undefined || isRecord(value)) return;
  yield { field, rule: `must be an object, but is ${shown(value)}`, cure: `Write it like ${like}` };
}

/**
 * Numbers are bounded by what every store can keep and add up: a billion, or a thousand times that for a
 * number without a minimum.
 */
export function* mustBeWhole(
  field: string,
  value: unknown,
  min: number,
  cure: string,
  max = min === Number.NEGATIVE_INFINITY ? MOST_PRIORITY : MOST_SLOTS,
): Problems {
  const least = Math.max(min, -max);
  if (value === undefined || isWithin(value, { least, most: max })) return;
  const isLarge = typeof value === "number" && Math.abs(value) > max;
  const bound = isLarge
    ? ` from ${least} to ${max}`
    : min === Number.NEGATIVE_INFINITY
      ? ""
      : ` of at least ${min}`;
  yield { field, rule: `must be a whole number${bound}, but is ${shown(value)}`, cure };
}

/**
 * A step's name becomes part of a gate's key, next to its run's ID. A sensor's ID becomes part of the keys of
 * its runs.
 */
const LONGEST_NAME = 120;

/** ASCII letters and digits, and . _ - / because names end up in keys, commands and addresses. */
export function* mustBeName(
  field: string,
  name: unknown,
  what: string,
  cure = "Use only letters, digits and . _ - /",
): Problems {
  const fits = typeof name === "string" && name.length <= LONGEST_NAME;
  if (fits && /^[A-Za-z0-9._/-]+$/.test(name)) return;
  if (typeof name === "string" && !fits) {
    yield {
      field,
      rule: `${what} is too long: ${name.length} characters`,
      cure: `Use at most ${LONGEST_NAME}`,
    };
    return;
  }
  const rule = name === "" ? `${what} must not be empty` : `${shown(name)} cannot be ${what}`;
  yield { field, rule, cure };
}

export function* mustBeDuration(field: string, value: unknown, { zero = false } = {}): Problems {
  if (value === undefined) return;
  if (referredBy(value)) {
    yield { field, rule: `must be a duration, but is ${shown(value)}`, cure: NO_VALUE_YET };
    return;
  }
  try {
    if (parseDuration(value as string) > 0 || zero) return;
    yield { field, rule: "must be longer than 0ms", cure: "Set a duration, or leave it out for the default" };
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    const { rule, cure } = error.details as { rule: string; cure: string };
    yield { field, rule, cure: cure.charAt(0).toUpperCase() + cure.slice(1) };
  }
}

/** Work that repeats at shorter intervals than this would keep a processor busy. */
const SHORTEST_BEAT_MS = 10;

export function* mustBeBeat(field: string, value: unknown): Problems {
  yield* mustBeDuration(field, value);
  const ms = value === undefined ? undefined : millis(value, "");
  if (ms === undefined || ms === 0 || ms >= SHORTEST_BEAT_MS) return;
  const rule = `${value} is too short: it must be at least ${SHORTEST_BEAT_MS}ms`;
  yield { field, rule, cure: `Set it to ${SHORTEST_BEAT_MS}ms or more` };
}

export function* mustBeOneOf(field: string, value: unknown, allowed: readonly string[]): Problems {
  if (value === undefined || allowed.includes(value as string)) return;
  const list = allowed.map((each) => `"${each}"`).join(" or ");
  yield { field, rule: `must be ${list}, but is ${shown(value)}`, cure: `Write one of ${list}` };
}

export function* mustBeBoolean(field: string, value: unknown, cure: string): Problems {
  if (value === undefined || typeof value === "boolean") return;
  yield { field, rule: "must be true or false", cure };
}

/** Some libraries make schemas that are functions, so this checks only for the one field they all share. */
export function* mustBeSchema(field: string, value: unknown): Problems {
  if (value === undefined || "~standard" in Object(value)) return;
  yield {
    field,
    rule: "must be a Standard Schema",
    cure: "Use a schema of zod, valibot, arktype or any other library that implements it",
  };
}

/** The milliseconds of a duration, or undefined if it is invalid; then its own rule reports that. */
export function millis(value: unknown, fallback: string): number | undefined {
  try {
    return parseDuration((value ?? fallback) as string);
  } catch {
    return undefined;
  }
}

/** A workflow is checked once, before any of its runs exists. */
const NO_VALUE_YET = 'Write a fixed one like "2h". For a time that is known only in a run, use s.until';

export function shown(value: unknown): string {
  const referred = referredBy(value);
  if (referred) return `the reference ${saySource(referred.source)}, which has no value until a run exists`;
  if (typeof value === "string") return shortly(value);
  if (Array.isArray(value)) return "a list";
  if (typeof value === "function") return "a function";
  return isRecord(value) ? "an object" : String(value);
}
