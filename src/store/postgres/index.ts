/** The store for many machines. */
import { SqlStore } from "../sql-store.ts";
import type { Store } from "../store.ts";
import type { PostgresOptions } from "./database.ts";
import { PostgresDatabase } from "./database.ts";

export type { PostgresOptions } from "./database.ts";

export function openPostgres(options: PostgresOptions): Store {
  return new SqlStore(new PostgresDatabase(options));
}
