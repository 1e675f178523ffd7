/**
 * A verb of the store as a generator: it yields flights of statements and gets their rows back. What runs it
 * differs by database (pipelined, one packet, or synchronous under the write lock), the verb itself does not.
 *
 * A statement that answers carries its decoder, so what comes back is typed and has a name. Nobody counts statements.
 */
import type { Row } from "./row.ts";
import { decoded } from "./row.ts";
import type { Sql } from "./sql.ts";

export interface Flight {
  readonly statements: readonly Sql<unknown>[];
  /** The last flight of a transaction takes the commit along. */
  readonly last?: boolean;
}

export type Flow<T> = Generator<Flight, T, Row[][]>;

/** One statement, several in their order, or none where it is not needed. */
type Cargo<T = unknown> = Sql<T> | readonly Cargo<T>[] | false;

type RowOf<C> = C extends Sql<infer T> ? T : C extends readonly (infer E)[] ? RowOf<E> : never;

type Manifest = Readonly<Record<string, Cargo>>;

/** The rows of all statements under a name, one after the other. What was not sent has none. */
type Answers<M extends Manifest> = { readonly [Name in keyof M]: RowOf<M[Name]>[] };

/** Sends statements together, in the order in which they are written; their rows come back by name. */
export const flight = <M extends Manifest>(manifest: M): Flow<Answers<M>> => named(manifest, false);

/** The same, and the transaction is committed with it. */
export const lastFlight = <M extends Manifest>(manifest: M): Flow<Answers<M>> => named(manifest, true);

/** The same where one name would be enough: the rows alone. */
export function* send<C extends Cargo>(cargo: C): Flow<RowOf<C>[]> {
  const { rows } = yield* flight({ rows: cargo });
  return rows;
}

/** Sends what only writes, and commits. */
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
  // The names and their types are those of the manifest: each row has been through the decoder of its statement.
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
