/** The store on MySQL 8 and MariaDB 10.6 or later; tested on MariaDB 10.11. */
import { SqlStore } from "../sql-store.ts";
import type { Store } from "../store.ts";
import type { MysqlOptions } from "./database.ts";
import { MysqlDatabase } from "./database.ts";

export type { MysqlOptions } from "./database.ts";

export function openMysql(options: MysqlOptions): Store {
  return new SqlStore(new MysqlDatabase(options));
}
