// Direct access to the tables of a store: empties them, reads them whole, changes a limit by plain SQL.

import { DatabaseSync } from "@photostructure/sqlite";
import mysql from "mysql2/promise";
import pg from "pg";

export type Row = Record<string, unknown>;

/** A separate connection beside the store's. */
export interface Aside {
  query(text: string): Promise<Row[]>;
  close(): Promise<void>;
}

export const TABLES = [
  "gate",
  "queue",
  "declared",
  "deploy",
  "lane",
  "arrival",
  "task",
  "waiting",
  "later",
  "deadline",
  "running",
  "stopping",
  "outcome",
  "event",
  "session",
  "run",
  "graph",
  "step",
  "news",
  "timer",
  "success",
  "trigger",
  "aside",
] as const;

const WAITING = ["wait", "topic", "signal", "signal_field"] as const;

export async function besidePostgres(url: string): Promise<Aside> {
  const client = new pg.Client({
    connectionString: url,
    types: { getTypeParser: ((oid: number) => (oid === 20 ? Number : pg.types.getTypeParser(oid))) as never },
  });
  await client.connect();
  return { query: async (text) => (await client.query(text)).rows as Row[], close: () => client.end() };
}

export async function besideMariadb(url: string): Promise<Aside> {
  const connection = await mysql.createConnection(url);
  return {
    query: async (text) => (await connection.query(text))[0] as Row[],
    close: () => connection.end(),
  };
}

export async function besideSqlite(path: string): Promise<Aside> {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA busy_timeout = 5000");
  return {
    query: async (text) => db.prepare(text).all() as Row[],
    close: async () => db.close(),
  };
}

export async function emptyTables(aside: Aside): Promise<void> {
  // The schema creates the session of runs, the queue of child runs and the row that declarations lock, so they stay.
  const came: Readonly<Record<string, string>> = {
    session: " WHERE id <> '@runs'",
    queue: " WHERE name <> '@nested'",
    deploy: " WHERE app <> ''",
  };
  const kept = (table: string): string => came[table] ?? "";
  // One transaction, because commits are the slow part.
  await aside.query("BEGIN");
  for (const table of TABLES) await aside.query(`DELETE FROM sluice_${table}${kept(table)}`);
  for (const table of [...WAITING, "listener", "change_new", "change"])
    await aside.query(`DELETE FROM sluice_${table}`);
  await aside.query("COMMIT");
}
