/** The rule for numbers that reach a store: whole, and small enough that their sums stay exact everywhere. */
import { SluiceError } from "./error.ts";
import type { ErrorCode } from "./error-code.ts";
import { shortly } from "./text.ts";

/** For slots and limits. A million units with a billion slots each can still be added up. */
export const MOST_SLOTS = 1_000_000_000;
/** For priorities, positive and negative. */
export const MOST_PRIORITY = 1_000_000_000_000;
/** The end of the year 9999, the last date that people and databases can write. */
const LAST_INSTANT = 253_402_300_799_999;
/** A hundred years. From any present time, the end of such a span is still a valid instant. */
const LONGEST_SPAN_MS = 3_155_760_000_000;

export interface Range {
  readonly least: number;
  readonly most: number;
}

export const PRIORITIES: Range = { least: -MOST_PRIORITY, most: MOST_PRIORITY };
export const INSTANTS: Range = { least: 0, most: LAST_INSTANT };
export const SPANS: Range = { least: 0, most: LONGEST_SPAN_MS };

export const isWithin = (value: unknown, { least, most }: Range): value is number =>
  Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;

/** Refuses a number that is not whole, or that is out of range for a store. `what` begins the message. */
export function checkNumber(code: ErrorCode, what: string, value: unknown, range: Range): void {
  if (isWithin(value, range)) return;
  throw new SluiceError(
    code,
    `${what} must be a whole number from ${range.least} to ${range.most}, but is ${sayNumber(value)}.`,
  );
}

const LINES: Range = { least: 0, most: Number.MAX_SAFE_INTEGER };

/** A page of a line. It may be as long as the line. */
export function checkPage(limit: unknown, offset: unknown): void {
  checkNumber("BAD_PAGE", "How many to list", limit, LINES);
  checkNumber("BAD_PAGE", "The place after which to list", offset, LINES);
}

/** A value in a message. It may be a text of any length, or an object that cannot be shown as text. */
export const sayNumber = (value: unknown): string =>
  typeof value === "number" ? String(value) : shortly(value);
