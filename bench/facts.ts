// What a server says about itself. Durability is read from its settings in force, not assumed.

import mysql from "mysql2/promise";
import pg from "pg";
import { askRedis } from "./redis-ask.ts";
import type { Facts } from "./servers.ts";

const EACH_COMMIT = "each commit";

export async function postgresFacts(url: string): Promise<Facts> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const sql = `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
      current_setting('synchronous_commit') AS commits`;
    const { version, fsync, commits } = (await client.query(sql)).rows[0];
    const durable = fsync === "on" && commits === "on";
    return {
      on: `PostgreSQL ${String(version).split(" ")[0]}`,
      durable: durable ? EACH_COMMIT : `NO: fsync ${fsync}, synchronous_commit ${commits}`,
    };
  } finally {
    await client.end();
  }
}

export async function mariadbFacts(url: string): Promise<Facts> {
  const connection = await mysql.createConnection({ uri: url });
  try {
    const [rows] = await connection.query<mysql.RowDataPacket[]>(
      "SELECT VERSION() AS version, @@innodb_flush_log_at_trx_commit AS flush",
    );
    const { version, flush } = rows[0] as { version: string; flush: number };
    return {
      on: `MariaDB ${version.split("-")[0]}`,
      durable: Number(flush) === 1 ? EACH_COMMIT : `NO: innodb_flush_log_at_trx_commit ${flush}`,
    };
  } finally {
    await connection.end();
  }
}

export async function redisFacts(url: string): Promise<Facts> {
  const version = /redis_version:(\S+)/.exec(await askRedis(url, "INFO server"))?.[1] ?? "unknown";
  const fsync = /appendfsync\r\n\$\d+\r\n(\S+)/.exec(await askRedis(url, "CONFIG GET appendfsync"))?.[1];
  const durable = { always: "each answer", everysec: "after up to 1 s" }[fsync ?? ""];
  return { on: `Redis ${version}`, durable: durable ?? `NO: appendfsync ${fsync}` };
}
