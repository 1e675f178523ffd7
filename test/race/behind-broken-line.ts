// A store behind a connection that breaks on demand, and an observer beside it that sees what the database
// has really done.

import { onTestFinished } from "vitest";
import { openMysql } from "../../src/store/mysql/index.ts";
import { openPostgres } from "../../src/store/postgres/index.ts";
import type { Store } from "../../src/store/store.ts";
import { BrokenLine } from "./broken-line.ts";
import { placeOf, waitingForLocks } from "./support.ts";

export interface Scene {
  readonly line: BrokenLine;
  /** The store at the far end of the connection. */
  readonly store: Store;
  /** How many rows there are, as the observer sees it. */
  count(what: string): Promise<number>;
  /** Runs plain SQL on the observer's connection. */
  aside(sql: string): Promise<unknown>;
  /** Whether any connection waits for a lock. */
  isAnyoneWaiting(): Promise<boolean>;
}

/** Uses a database of its own that the test may `prepare`. Everything is closed with the test. */
export async function behindBrokenLine(
  name: "PostgreSQL" | "MariaDB",
  prepare: (store: Store) => Promise<unknown> = async () => {},
): Promise<Scene> {
  const place = await placeOf(name);
  onTestFinished(() => place.close());
  await prepare(await place.open());
  const observer = await place.beside();
  const line = await BrokenLine.to(place.where);
  onTestFinished(() => line.close());
  const store = name === "PostgreSQL" ? openPostgres({ url: line.url }) : openMysql({ url: line.url });
  onTestFinished(() => store.close());
  return {
    line,
    store,
    count: async (what) => Number((await observer.query(`SELECT count(*) AS n FROM ${what}`))[0]?.n),
    aside: (sql) => observer.query(sql),
    isAnyoneWaiting: async () => (await waitingForLocks(name, observer)) > 0,
  };
}
