/**
 * Errors by which a task's code decides about its next attempt. They are recognized by their fields and not
 * by their class, because an app may load another copy of this package.
 */

import { SluiceError } from "../error.ts";
import type { Duration } from "../time.ts";
import { parseDuration } from "../time.ts";

interface Cause {
  readonly cause?: unknown;
}

/** No further attempt would help: the task fails at once, whatever its `retry` says. */
export class NonRetryable extends Error {
  readonly retryable = false;

  constructor(message = "No further attempt would help.", options: Cause = {}) {
    super(message, options);
    this.name = "NonRetryable";
  }
}

/** When the next attempt is due: this long after the end of this one, or at an instant. */
export type NextDue = { readonly inMs: number } | { readonly at: number };

/**
 * The next attempt is due then, instead of after the delay of `retry`. It needs an attempt that is left, as
 * every retry does.
 */
export class RetryAfter extends Error {
  readonly retryAfter: NextDue;

  constructor(when: Duration | Date, message?: string, options: Cause = {}) {
    super(message ?? `The code has asked for an attempt ${sayDue(when)}.`, options);
    this.name = "RetryAfter";
    this.retryAfter = when instanceof Date ? { at: instantOf(when) } : { inMs: parseDuration(when) };
  }
}

/** An invalid date is refused a moment later. */
const sayDue = (when: Duration | Date): string =>
  when instanceof Date
    ? `not before ${Number.isNaN(when.getTime()) ? "its date" : when.toISOString()}`
    : `${when} after this one`;

function instantOf(date: Date): number {
  const at = date.getTime();
  if (!Number.isNaN(at)) return at;
  throw new SluiceError("BAD_OPTIONS", "RetryAfter: the date is not a valid one. Pass a valid date, or 5m.");
}

/** Undefined if it is no such answer, as after a message that was damaged on its way. */
export function nextDueOf(value: unknown): NextDue | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { inMs, at } = value as { readonly inMs?: unknown; readonly at?: unknown };
  if (isTime(inMs)) return { inMs };
  return isTime(at) ? { at } : undefined;
}

const isTime = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
