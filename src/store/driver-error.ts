/** Errors as drivers throw them: each driver tells some of this, none tells all. */
interface DriverError {
  /** PostgreSQL: its SQLSTATE. MySQL, sockets and files: a name. */
  readonly code?: unknown;
  /** MySQL. */
  readonly sqlState?: unknown;
  /** SQLite: an extended result code. */
  readonly errcode?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
}

/** What an error tells; of something that is no object, nothing. */
export const toldBy = (error: unknown): DriverError =>
  typeof error === "object" && error !== null ? error : {};

export const codeOf = (error: unknown): string => String(toldBy(error).code ?? "");

export const messageOf = (error: unknown): string => String(toldBy(error).message ?? "");

/** SQLite's primary result code; undefined where it is not an error of SQLite. */
export function sqliteResult(error: unknown): number | undefined {
  const { errcode } = toldBy(error);
  return typeof errcode === "number" ? errcode & 0xff : undefined;
}
