/**
 * Which errors are about the data: a row or a value that the database cannot process, however often it is asked. They say
 * nothing about the store, which answers well, and nothing is gained by waiting. Judged by code wherever there is one.
 */
import { SluiceError } from "../core/error.ts";
import { messageOf, sqliteResult, toldBy } from "./driver-error.ts";

/** Something in the store, or on its way there, that cannot be processed. */
export class DataError extends SluiceError {
  constructor(cause: unknown) {
    super("BAD_DATA", `The store cannot process this: ${sayCause(cause)}`, { cause });
  }
}

/** Its own words, without those of an error around it. */
export function sayCause(error: unknown): string {
  if (error instanceof DataError) return sayCause(error.cause);
  return error instanceof Error ? error.message || error.name : String(error);
}

export const isDataError = (error: unknown): error is DataError => error instanceof DataError;

/** The same error under its name, where it is one. */
export function asDataError(error: unknown): unknown {
  return !(error instanceof SluiceError) && isAboutData(error) ? new DataError(error) : error;
}

/**
 * SQLSTATE by its class: cardinality, data exception, integrity constraint, program limit. Not the classes of syntax and
 * privileges, nor of resources: those concern everybody.
 */
const CLASSES = /^(21|22|23|54)[0-9A-Z]{3}$/;
/** MySQL has some that it gives no class of their own. */
const MYSQL = new Set([
  "ER_TRUNCATED_WRONG_VALUE",
  "ER_TRUNCATED_WRONG_VALUE_FOR_FIELD",
  "ER_TOO_BIG_ROWSIZE",
  // Larger than what the server takes at a time: a smaller one it would take.
  "ER_NET_PACKET_TOO_LARGE",
]);
/** SQLite's result codes: too big, constraint, mismatch, range. */
const SQLITE = new Set([18, 19, 20, 25]);
const SQLITE_ERROR = 1;
/** A trigger has refused it: somebody else's rule, as it is on the other databases. */
const SQLITE_TRIGGER = 1811;

export function isAboutData(error: unknown): boolean {
  const { code, sqlState, errcode } = toldBy(error);
  const result = sqliteResult(error);
  if (result !== undefined) return errcode !== SQLITE_TRIGGER && isSqliteData(result, messageOf(error));
  if (typeof sqlState === "string" && CLASSES.test(sqlState)) return true;
  if (typeof code === "string") return CLASSES.test(code) || MYSQL.has(code);
  // What our own code could not make of a row, or the driver of a value.
  return error instanceof SyntaxError || error instanceof RangeError || error instanceof TypeError;
}

/** Its general error means both a value that a function cannot take and a table that is not there. */
function isSqliteData(result: number, message: string): boolean {
  if (SQLITE.has(result)) return true;
  return result === SQLITE_ERROR && !/^(no such|near |table .* has no column)/.test(message);
}
