import mysql from "mysql2/promise";
import pg from "pg";
import { createMariadb } from "../test/support/create-database.ts";

export interface Database {
  readonly url: string;
  drop(): Promise<void>;
}

/** Creates an empty database on the server at `url`. Every case gets its own. */
export function freshDatabase(url: string, name: string): Promise<Database> {
  return new URL(url).protocol === "mysql:" ? onMariadb(url) : onPostgres(url, name);
}

async function onPostgres(url: string, name: string): Promise<Database> {
  const database = `bench_${name.replace(/\W+/g, "_")}_${process.pid}_${++created}`;
  await statement(url, `CREATE DATABASE ${database}`);
  const own = new URL(url);
  own.pathname = `/${database}`;
  return {
    url: own.href,
    // FORCE, because a killed child may have left sessions behind.
    drop: () => statement(url, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`),
  };
}

async function onMariadb(url: string): Promise<Database> {
  const own = await createMariadb(url, "bench_");
  return {
    url: own,
    drop: async () => {
      const connection = await mysql.createConnection({ uri: url });
      await connection.query(`DROP DATABASE IF EXISTS ${new URL(own).pathname.slice(1)}`);
      await connection.end();
    },
  };
}

/**
 * Every system calls this between filling the table and starting the clock, so that the measurement does not
 * include statistics, hint bits or a checkpoint caused by the inserts. Only PostgreSQL needs it.
 */
export async function settle(url: string): Promise<void> {
  if (!url.startsWith("postgres")) return;
  await statement(url, "VACUUM ANALYZE");
  await statement(url, "CHECKPOINT");
}

let created = 0;

async function statement(url: string, sql: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
