/**
 * A SQLite file. There is no wire to cut and no server to end. Instead we take away the write lock, by
 * holding it ourselves for as long as the store is to be away.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseSync } from "@photostructure/sqlite";
import { readSqliteAudit, sqliteAudit } from "../audit/sqlite.ts";
import type { Place, Row } from "./place.ts";

export async function sqlitePlace(folder: string): Promise<Place> {
  const path = join(folder, "sluice.db");
  let opened: InstanceType<typeof DatabaseSync> | undefined;
  // Open it only after the product has created the file, because the product decides how.
  const db = (): InstanceType<typeof DatabaseSync> => {
    if (!opened) {
      opened = new DatabaseSync(path);
      opened.exec("PRAGMA busy_timeout = 0");
    }
    return opened;
  };
  const sql = async (text: string): Promise<Row[]> => {
    for (let attempt = 0; ; attempt += 1) {
      try {
        if (!/^\s*(SELECT|WITH)/i.test(text)) {
          db().exec(text);
          return [];
        }
        return db().prepare(text).all() as Row[];
      } catch (error) {
        if (attempt > 6_000 || !/locked|busy/i.test(String(error))) throw error;
        await sleep(5);
      }
    }
  };
  return {
    store: "sqlite",
    url: `file:${path}`,
    newWatch: undefined,
    sql,
    plant: async () => {
      for (const statement of sqliteAudit) await sql(statement);
    },
    audit: () => sql(readSqliteAudit),
    leaseNow: () => String(Math.floor(Number(process.hrtime.bigint()) / 1e6)),
    leaseToWall: Date.now() - Number(process.hrtime.bigint()) / 1e6,
    crash: undefined,
    takeAway: async () => {
      const holder = new DatabaseSync(path);
      for (;;) {
        try {
          holder.exec("BEGIN IMMEDIATE");
          break;
        } catch {
          await sleep(1);
        }
      }
      return async () => {
        holder.exec("ROLLBACK");
        holder.close();
      };
    },
    openTransactions: async () => 0,
    serverLog: undefined,
    close: async () => opened?.close(),
  };
}
