// The stores that a suite runs on: a new one for each test, and a skip with a reason if one is missing.

import { describe, onTestFinished } from "vitest";
import { openStore } from "../../../src/api/open-store.ts";
import type { Store } from "../../../src/index.ts";
import { openMemory } from "../../../src/store/memory/index.ts";
import type { Aside } from "../../conformance/tables.ts";
import { besideMariadb, besidePostgres, besideSqlite } from "../../conformance/tables.ts";
import {
  describeWithMariadb,
  describeWithPostgres,
  freshSqlite,
  migratedMariadb,
  migratedPostgres,
} from "../../support/databases.ts";

export interface Place {
  readonly name: string;
  /** The argument of `connect`: a URL, or a store that lives only in this process. */
  open(): Promise<string | Store>;
  /** Opens a separate connection for plain SQL. */
  beside(url: string): Promise<Aside>;
}

const pathOf = (url: string): string => url.slice("file:".length);

const PLACES = {
  memory: {
    name: "memory",
    open: async () => openMemory(),
    beside: () => Promise.reject(new Error("no SQL there")),
  },
  sqlite: {
    name: "SQLite",
    open: async () => `file:${await freshSqlite()}`,
    beside: (url) => besideSqlite(pathOf(url)),
  },
  postgres: { name: "PostgreSQL", open: migratedPostgres, beside: besidePostgres },
  mariadb: { name: "MariaDB", open: migratedMariadb, beside: besideMariadb },
} as const satisfies Record<string, Place>;

const DESCRIBE = {
  memory: describe,
  sqlite: describe,
  postgres: describeWithPostgres,
  mariadb: describeWithMariadb,
} as const;

/** A new store, open until the test ends. */
export async function storeOn(place: Place): Promise<Store> {
  const where = await place.open();
  const store = typeof where === "string" ? await openStore(where, { migrate: true }) : where;
  onTestFinished(() => store.close());
  return store;
}

/** Runs the same suite on each of these stores. */
export function describeOn(places: readonly (keyof typeof PLACES)[], suite: (place: Place) => void): void {
  for (const key of places) DESCRIBE[key](`on ${PLACES[key].name}`, () => suite(PLACES[key]));
}
