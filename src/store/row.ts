/**
 * Rows as a database returns them, and how they are read. A decoder is a plain function from a row to its
 * meaning. It passes each column to a reader below, and a reader throws if the type is wrong. A reader does
 * not know its column, so a decoder is as fast as the object it builds. After a failure, the row is read
 * again to find the column. A decoder of many rows writes its fields out: a spread costs more than all the
 * readers.
 */
import { DataError } from "./data-error.ts";

export type Row = Readonly<Record<string, unknown>>;

export type Decoder<T> = (row: Row) => T;

/** A value of the wrong type. The reader does not know its column. */
class Mismatch extends Error {
  readonly found: unknown;

  constructor(wanted: string, found: unknown) {
    super(wanted);
    this.found = found;
  }
}

export function text(value: unknown): string {
  if (typeof value === "string") return value;
  throw new Mismatch("a text", value);
}

/**
 * PostgreSQL and MySQL return sums and casts as decimal text. MySQL returns its bytes if a variable is
 * involved.
 */
export function int(value: unknown): number {
  if (typeof value === "number") return value;
  const digits = typeof value === "string" || Buffer.isBuffer(value) ? String(value) : "";
  const number = digits === "" ? Number.NaN : Number(digits);
  if (Number.isFinite(number)) return number;
  throw new Mismatch("a number", value);
}

/** Our tables have no booleans: 1 is true. */
export const flag = (value: unknown): boolean => int(value) === 1;

export const textOrNull = (value: unknown): string | null => (value === null ? null : text(value));

export const intOrNull = (value: unknown): number | null => (value === null ? null : int(value));

/**
 * A word of a small vocabulary, such as a state. The cast is deliberate: an unknown word that was written by
 * plain SQL is shown as it is, because one damaged row must not hide all the others.
 */
export const word = <W extends string>(value: unknown): W => text(value) as W;

export const wordOrNull = <W extends string>(value: unknown): W | null =>
  value === null ? null : word<W>(value);

/** For rows whose id alone is wanted. */
export const idOf = ({ id }: Row): string => text(id);

/**
 * Decodes the rows of one answer. A missing column, or one of the wrong type, is a data error that names it.
 */
export function decoded<T>(rows: readonly Row[], decode: Decoder<T>): T[] {
  try {
    return rows.map((row) => decode(row));
  } catch (error) {
    throw error instanceof Mismatch ? blamed(rows, decode, error) : error;
  }
}

/** The row of an answer that always has one. */
export function only<T>(rows: readonly T[]): T {
  const [first] = rows;
  if (first === undefined) throw new DataError(new Error("an answer has no row where there is always one."));
  return first;
}

/** Decodes row by row again and notes the column that was read last before the failure. */
function blamed(rows: readonly Row[], decode: Decoder<unknown>, error: Mismatch): DataError {
  let column = "";
  for (const row of rows) {
    const watched = new Proxy(row, {
      get: (target, name) => {
        column = String(name);
        return target[column];
      },
    });
    try {
      decode(watched);
    } catch {
      return new DataError(new Error(complaint(row, column, error)));
    }
  }
  return new DataError(error);
}

function complaint(row: Row, column: string, { message, found }: Mismatch): string {
  const name = row.id ?? row.name;
  const whose = typeof name === "string" ? ` of "${name}"` : "";
  if (!(column in row)) return `the column ${column}${whose} is missing from an answer.`;
  return `the column ${column}${whose} should be ${message} and is ${JSON.stringify(found)}.`;
}
