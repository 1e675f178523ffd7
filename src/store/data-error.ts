/**
 * Decides which errors are about data: a row or a value that the database cannot process, however often it is
 * asked. The store itself is fine, and waiting does not help. The error code decides if there is one.
 */
import { SluiceError } from "../core/error.ts";
import { messageOf, sqliteResult, toldBy } from "./driver-error.ts";

/** A value in the store, or on its way there, that cannot be processed. */
export class DataError extends SluiceError {
  constructor(cause: unknown) {
    super("BAD_DATA", `The store cannot process this: ${sayCause(cause)}`, { cause });
  }
}

/** The message of the original error, without those of the errors wrapped around it. */
export function sayCause(error: unknown): string {
  if (error instanceof DataError) return sayCause(error.cause);
  return error instanceof Error ? error.message || error.name : String(error);
}

export const isDataError = (error: unknown): error is DataError => error instanceof DataError;

/** Wraps an error about data in a `DataError`. Other errors are returned as they are. */
export function asDataError(error: unknown): unknown {
  return !(error instanceof SluiceError) && isAboutData(error) ? new DataError(error) : error;
}

/**
 * SQLSTATE classes: cardinality, data exception, integrity constraint, program limit. Syntax, privileges and
 * resources are not here, because they affect all data.
 */
const CLASSES = /^(21|22|23|54)[0-9A-Z]{3}$/;
/** MySQL errors about data that have no SQLSTATE class of their own. */
const MYSQL = new Set([
  "ER_TRUNCATED_WRONG_VALUE",
  "ER_TRUNCATED_WRONG_VALUE_FOR_FIELD",
  "ER_TOO_BIG_ROWSIZE",
  // The packet is larger than the server accepts. It would accept a smaller one.
  "ER_NET_PACKET_TOO_LARGE",
]);
/** SQLite's result codes: too big, constraint, mismatch, range. */
const SQLITE = new Set([18, 19, 20, 25]);
const SQLITE_ERROR = 1;
/** A trigger refused the row. That is a rule of the user and not an error about data, as on the other databases. */
const SQLITE_TRIGGER = 1811;

export function isAboutData(error: unknown): boolean {
  const { code, sqlState, errcode } = toldBy(error);
  const result = sqliteResult(error);
  if (result !== undefined) return errcode !== SQLITE_TRIGGER && isSqliteData(result, messageOf(error));
  if (typeof sqlState === "string" && CLASSES.test(sqlState)) return true;
  if (typeof code === "string") return CLASSES.test(code) || MYSQL.has(code);
  // Our own code could not read a row, or the driver could not take a value.
  return error instanceof SyntaxError || error instanceof RangeError || error instanceof TypeError;
}

/** SQLite's general error stands for a value that a function cannot take, and also for a missing table. */
function isSqliteData(result: number, message: string): boolean {
  if (SQLITE.has(result)) return true;
  return result === SQLITE_ERROR && !/^(no such|near |table .* has no column)/.test(message);
}
