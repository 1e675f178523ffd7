// A store whose next transaction stops half-way, inside the database and with all its locks, until the test
// lets it continue.

import type { Flow } from "../../src/store/flow.ts";
import { MysqlDatabase } from "../../src/store/mysql/database.ts";
import { PostgresDatabase } from "../../src/store/postgres/database.ts";
import type { Row } from "../../src/store/row.ts";
import { raw } from "../../src/store/sql.ts";
import type { SqlDatabase } from "../../src/store/sql-store.ts";
import { SqlStore } from "../../src/store/sql-store.ts";
import type { Store } from "../../src/store/store.ts";
import type { Place } from "./support.ts";

/** Where it stops: before the flight with a matching statement, or after it and before the commit. */
export type Where = { readonly before: RegExp } | { readonly behind: RegExp };

export interface Stopped {
  /** Resolves when the transaction has arrived there. */
  readonly there: Promise<void>;
  goOn(): Promise<void>;
}

export interface Stoppable {
  readonly store: Store;
  /** The next transaction that arrives there stops, once. */
  stop(where: Where): Promise<Stopped>;
}

const DATABASES = { PostgreSQL: PostgresDatabase, MariaDB: MysqlDatabase } as const;

/** The wait takes as long as the test likes; none of our timeouts cuts it short. */
const BARRIERS = {
  PostgreSQL: (n: number) => ({
    wait: ["SET LOCAL lock_timeout = '20s'", `SELECT pg_advisory_xact_lock(${n})`],
    close: `SELECT pg_advisory_lock(${n})`,
    open: `SELECT pg_advisory_unlock(${n})`,
  }),
  MariaDB: (n: number) => ({
    // Lock names are global to the server.
    wait: [`SELECT GET_LOCK(CONCAT(DATABASE(), ${n}), 20)`, `SELECT RELEASE_LOCK(CONCAT(DATABASE(), ${n}))`],
    close: `SELECT GET_LOCK(CONCAT(DATABASE(), ${n}), 20)`,
    open: `SELECT RELEASE_LOCK(CONCAT(DATABASE(), ${n}))`,
  }),
} as const;

/** `number` tells the barriers of one database apart. */
export async function stoppable(place: Place, number = 1): Promise<Stoppable> {
  const name = place.name as keyof typeof DATABASES;
  const { wait: waiting, close, open } = BARRIERS[name](number);
  const barrier = await place.beside();
  let armed: { readonly where: Where; readonly arrived: () => void } | undefined;

  function* watched<T>(flow: Flow<T>): Flow<T> {
    let step = flow.next();
    while (!step.done) {
      const { statements } = step.value;
      const texts = statements.map((each) => each.render(database.dialect, { wall: 0, lease: 0 }).text);
      const sends = (text: RegExp): boolean => texts.some((each) => text.test(each));
      const { where, arrived } = armed ?? {};
      let answers: Row[][];
      if (where && "before" in where && sends(where.before)) {
        arrived?.();
        yield wait();
        answers = yield step.value;
      } else if (where && "behind" in where && sends(where.behind)) {
        answers = yield { statements };
        arrived?.();
        yield wait();
      } else answers = yield step.value;
      step = flow.next(answers);
    }
    return step.value;
  }
  const wait = () => {
    armed = undefined;
    return { statements: waiting.map(raw) };
  };

  const database: SqlDatabase = new DATABASES[name]({ url: place.where });
  const { transact, read } = database;
  database.transact = <T>(flow: () => Flow<T>) =>
    transact.call(database, () => watched(flow())) as Promise<T>;
  database.read = <T>(flow: () => Flow<T>) => read.call(database, () => watched(flow())) as Promise<T>;
  const store = new SqlStore(database);
  place.atEnd(() => store.close());

  return {
    store,
    stop: async (where) => {
      await barrier.query(close);
      const there = new Promise<void>((resolve) => {
        armed = { where, arrived: resolve };
      });
      return { there, goOn: async () => void (await barrier.query(open)) };
    },
  };
}
