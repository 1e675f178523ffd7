/**
 * Rows as a database answers them, and how they are read. A decoder is a plain function from a row to what it means. It
 * passes each column to a reader below, and a reader fails for a value of the wrong type. Nothing is counted or named on the
 * way, so a decoder is as fast as the object it builds: only after a failure is the row read again, to learn which column
 * it was. A decoder of many rows writes its fields out: a spread costs more than all the readers.
 */
import { DataError } from "./data-error.ts";

export type Row = Readonly<Record<string, unknown>>;

export type Decoder<T> = (row: Row) => T;

/** A value that a reader cannot take. The reader does not know its column. */
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

/** Sums and casts come as decimal text from PostgreSQL and MySQL, and as its bytes where a variable of MySQL is involved. */
export function int(value: unknown): number {
  if (typeof value === "number") return value;
  const digits = typeof value === "string" || Buffer.isBuffer(value) ? String(value) : "";
  const number = digits === "" ? Number.NaN : Number(digits);
  if (Number.isFinite(number)) return number;
  throw new Mismatch("a number", value);
}

/** No database of ours has booleans in its tables: 1 is true. */
export const flag = (value: unknown): boolean => int(value) === 1;

export const textOrNull = (value: unknown): string | null => (value === null ? null : text(value));

export const intOrNull = (value: unknown): number | null => (value === null ? null : int(value));

/**
 * A word of a small vocabulary, such as a state. The cast is deliberate: a word that somebody else has written by plain SQL
 * is shown as it stands, because one damaged row must not hide all the others.
 */
export const word = <W extends string>(value: unknown): W => text(value) as W;

export const wordOrNull = <W extends string>(value: unknown): W | null =>
  value === null ? null : word<W>(value);

/** Of a row of which only the id is wanted. */
export const idOf = ({ id }: Row): string => text(id);

/** The rows of one answer. A column that is missing or of the wrong type is a data error that names it. */
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

/** Reads row by row once more, and notes which column was read last when it fails. */
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
