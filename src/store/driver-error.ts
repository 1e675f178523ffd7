/** Errors as drivers throw them. Each driver sets some of these fields, and none sets all. */
interface DriverError {
  /** PostgreSQL: the SQLSTATE. MySQL, sockets and files: a name. */
  readonly code?: unknown;
  /** MySQL. */
  readonly sqlState?: unknown;
  /** PostgreSQL: "FATAL" ends the connection, "ERROR" only the statement. */
  readonly severity?: unknown;
  /** SQLite: an extended result code. */
  readonly errcode?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
}

/** The fields of an error. A value that is not an object has none. */
export const toldBy = (error: unknown): DriverError =>
  typeof error === "object" && error !== null ? error : {};

export const codeOf = (error: unknown): string => String(toldBy(error).code ?? "");

export const messageOf = (error: unknown): string => String(toldBy(error).message ?? "");

/** SQLite's primary result code, or undefined if the error is not from SQLite. */
export function sqliteResult(error: unknown): number | undefined {
  const { errcode } = toldBy(error);
  return typeof errcode === "number" ? errcode & 0xff : undefined;
}
