/** The store for many machines. */
import { SqlStore } from "../sql-store.ts";
import type { Store } from "../store.ts";
import { PostgresDatabase, type PostgresOptions } from "./database.ts";

export type { PostgresOptions } from "./database.ts";

export function openPostgres(options: PostgresOptions): Store {
  return new SqlStore(new PostgresDatabase(options));
}
