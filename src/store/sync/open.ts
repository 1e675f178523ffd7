/** Opens a sync database from its URL. Drivers are loaded only when they are used. */
import { SluiceError } from "../../core/error.ts";
import { masked } from "../away.ts";
import type { Database } from "../flow.ts";
import type { SyncDatabase, SyncTables } from "./port.ts";
import { sqlSync } from "./sql-sync.ts";
import { SYNC_TABLES } from "./tables.ts";

interface SyncOptions {
  readonly url: string;
  readonly inactiveMs: number;
  readonly tables?: SyncTables;
  /** For tests only: the instant the database takes for now. */
  readonly now?: () => number;
}

/** A controller makes one call at a time, and people make a few. */
const CONNECTIONS = 4;

export async function openSync(options: SyncOptions): Promise<SyncDatabase> {
  const { url, inactiveMs, tables = SYNC_TABLES } = options;
  return sqlSync(await databaseAt(options), { where: url, tables, inactiveMs });
}

async function databaseAt({ url, now }: SyncOptions): Promise<Database> {
  const scheme = /^(\w+):/.exec(url)?.[1] ?? "";
  const clock = now ? { now } : {};
  if (scheme === "postgres" || scheme === "postgresql") {
    const { PostgresDatabase } = await import("../postgres/database.ts");
    return new PostgresDatabase({ url, connections: CONNECTIONS, ...clock });
  }
  if (scheme === "mysql" || scheme === "mariadb") {
    const { MysqlDatabase } = await import("../mysql/database.ts");
    return new MysqlDatabase({
      url: url.replace(/^mariadb:/, "mysql:"),
      connections: CONNECTIONS,
      ...clock,
    });
  }
  throw new SluiceError(
    "BAD_STORE_URL",
    `"${masked(url)}" is not a sync database. Write postgres://user@host/database or mysql://user@host/database.`,
  );
}
