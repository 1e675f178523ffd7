/**
 * A verb of the store as a generator. It yields flights of statements and gets their rows back. The database
 * decides how a flow runs: pipelined, in one packet, or synchronously under the write lock. The verb does not
 * depend on it.
 *
 * A statement that returns rows carries their decoder, so its rows are typed and have a name. No verb counts
 * statements.
 */
import type { Row } from "./row.ts";
import { decoded } from "./row.ts";
import type { Sql } from "./sql.ts";

export interface Flight {
  readonly statements: readonly Sql<unknown>[];
  /** The last flight of a transaction carries the commit. */
  readonly last?: boolean;
}

export type Flow<T> = Generator<Flight, T, Row[][]>;

/** One statement, several in order, or `false` for none. */
type Cargo<T = unknown> = Sql<T> | readonly Cargo<T>[] | false;

type RowOf<C> = C extends Sql<infer T> ? T : C extends readonly (infer E)[] ? RowOf<E> : never;

type Manifest = Readonly<Record<string, Cargo>>;

/**
 * The rows of all statements under a name, one after the other. A statement that was not sent has no rows.
 */
type Answers<M extends Manifest> = { readonly [Name in keyof M]: RowOf<M[Name]>[] };

/** Sends statements together, in the order in which they are written. Returns their rows by name. */
export const flight = <M extends Manifest>(manifest: M): Flow<Answers<M>> => named(manifest, false);

/** Like `flight`, and commits the transaction. */
export const lastFlight = <M extends Manifest>(manifest: M): Flow<Answers<M>> => named(manifest, true);

/** Like `flight` with a single name: returns the rows alone. */
export function* send<C extends Cargo>(cargo: C): Flow<RowOf<C>[]> {
  const { rows } = yield* flight({ rows: cargo });
  return rows;
}

/** Sends statements that only write, and commits. */
export function* commit(cargo: Cargo): Flow<void> {
  yield* lastFlight({ cargo });
}

function* named<M extends Manifest>(manifest: M, last: boolean): Flow<Answers<M>> {
  const parts = Object.entries(manifest).map(([name, cargo]) => ({ name, statements: unpacked(cargo) }));
  const statements = parts.flatMap((part) => part.statements);
  const answers = statements.length > 0 || last ? yield { statements, last } : [];
  let next = 0;
  const rows = parts.map(({ name, statements }) => {
    const own = answers.slice(next, next + statements.length);
    next += statements.length;
    return [name, rowsOf(statements, own)];
  });
  // The cast is safe: the names are the manifest's, and each row has been through its statement's decoder.
  return Object.fromEntries(rows) as Answers<M>;
}

function unpacked(cargo: Cargo): readonly Sql<unknown>[] {
  if (cargo === false) return [];
  return "write" in cargo ? [cargo] : cargo.flatMap(unpacked);
}

function rowsOf(statements: readonly Sql<unknown>[], answers: readonly Row[][]): unknown[] {
  const found = statements.flatMap(({ decode }, index) =>
    decode ? [decoded(answers[index] ?? [], decode)] : [],
  );
  return found.length === 1 ? (found[0] ?? []) : found.flat();
}

/** The ways in which a database runs flows. */
export interface Database {
  /**
   * Runs one transaction. A transaction that lost a race is repeated as a whole. With `isFirst` it goes before
   * other calls of this process that wait for a connection.
   */
  transact<T>(flow: () => Flow<T>, isFirst?: boolean): Promise<T>;
  /**
   * Like `transact`, for a small write on which running work depends. It goes first, and works even if the
   * disk has no room for other writes.
   */
  vital?<T>(flow: () => Flow<T>): Promise<T>;
  /** Reads a consistent view of one instant. */
  read<T>(flow: () => Flow<T>): Promise<T>;
  close(): Promise<void>;
}
