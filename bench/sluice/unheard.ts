// A store without the feed of changes: the question for listeners is not sent. What they cost while nobody
// listens is the difference to the store as it is.
import type { Flow } from "../../src/store/flow.ts";
import type { SqlDatabase } from "../../src/store/sql-database.ts";
import type { Store } from "../../src/store/store.ts";

const at = (path: string): Promise<never> =>
  import(new URL(`../../dist/${path}`, import.meta.url).href) as Promise<never>;

/** The store at this URL, with its feed or without it. */
export async function openedStore(url: string, heard: boolean): Promise<Store> {
  const { SqlStore }: { SqlStore: new (db: SqlDatabase) => Store } = await at("store/sql-store.js");
  const { mayHaveTold, selectListening }: typeof import("../../src/store/query/tell.ts") =
    await at("store/query/tell.js");
  const db = await databaseAt(url);
  const { transact } = db;
  const asks = selectListening().write;
  if (!heard)
    db.transact = (flow, isFirst) =>
      transact.call(db, () => silently(flow() as Flow<unknown>) as never, isFirst) as never;
  return new SqlStore(db);

  /** On these databases, the question is the door. */
  function* silently<T>(flow: Flow<T>): Flow<T> {
    let step = flow.next();
    while (!step.done) {
      const { statements, ...rest } = step.value;
      const isSent = statements.map((one) => one.write !== asks && !mayHaveTold(one, [{}], "mysql"));
      const answers = yield { statements: statements.filter((_, index) => isSent[index]), ...rest };
      let next = 0;
      step = flow.next(isSent.map((sent) => (sent ? (answers[next++] ?? []) : [])));
    }
    return step.value;
  }
}

async function databaseAt(url: string): Promise<SqlDatabase> {
  if (url.startsWith("file:")) {
    const { SqliteDatabase }: { SqliteDatabase: new (path: string, time: object) => SqlDatabase } =
      await at("store/sqlite/database.js");
    const { hostTime }: { hostTime: () => object } = await at("store/sqlite/index.js");
    return new SqliteDatabase(url.slice("file:".length), hostTime());
  }
  const { PostgresDatabase }: { PostgresDatabase: new (options: { url: string }) => SqlDatabase } = await at(
    "store/postgres/database.js",
  );
  return new PostgresDatabase({ url });
}
