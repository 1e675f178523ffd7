// A store behind a line that breaks on demand, and somebody beside it who sees what the database has really done.

import { onTestFinished } from "vitest";
import { openMysql } from "../../src/store/mysql/index.ts";
import { openPostgres } from "../../src/store/postgres/index.ts";
import type { Store } from "../../src/store/store.ts";
import { BrokenLine } from "./broken-line.ts";
import { placeOf, waitingForLocks } from "./support.ts";

export interface Scene {
  readonly line: BrokenLine;
  /** At the far end of the line. */
  readonly store: Store;
  /** How many rows there are, as somebody sees whose line is whole. */
  count(what: string): Promise<number>;
  /** Plain SQL by the same. */
  aside(sql: string): Promise<unknown>;
  /** Whether somebody waits for a lock. */
  isAnyoneWaiting(): Promise<boolean>;
}

/** On a database of its own that the test may `prepare`; all of it ends with the test. */
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
