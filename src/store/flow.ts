/**
 * A verb of the store as a generator: it yields flights of statements and gets their rows back. What runs it
 * differs by database (pipelined, one packet, or synchronous under the write lock), the verb itself does not.
 */
import type { Sql } from "./sql.ts";

export type Row = Readonly<Record<string, unknown>>;

export interface Flight {
  readonly statements: readonly Sql[];
  /** The last flight of a transaction takes the commit along. */
  readonly last?: boolean;
}

export type Flow<T> = Generator<Flight, T, Row[][]>;

/** Sends statements together; their rows come back in the same order. */
export function* flight(...statements: Sql[]): Generator<Flight, Row[][], Row[][]> {
  return yield { statements };
}

/** The same by name, for those that send many. */
export function* flightOf<Name extends string>(
  statements: Readonly<Record<Name, Sql>>,
): Generator<Flight, Record<Name, Row[]>, Row[][]> {
  const names = Object.keys(statements) as Name[];
  const answers = yield* flight(...names.map((name) => statements[name]));
  return Object.fromEntries(names.map((name, index) => [name, answers[index] ?? []])) as Record<Name, Row[]>;
}

/** The same, and the transaction is committed with it. */
export function* lastFlight(...statements: Sql[]): Generator<Flight, Row[][], Row[][]> {
  return yield { statements, last: true };
}

/** What a database can do with flows. */
export interface Database {
  /** One transaction; tried again as a whole when the database says that it lost a race. */
  transact<T>(flow: () => Flow<T>): Promise<T>;
  /** The same for a small write on which running work depends: done even where there is no room for others. */
  vital?<T>(flow: () => Flow<T>): Promise<T>;
  /** A consistent look at one instant. */
  read<T>(flow: () => Flow<T>): Promise<T>;
  close(): Promise<void>;
}
