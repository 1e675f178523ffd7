// What a database server has used so far: the processor time of its processes and the bytes of its log.

import { readFileSync } from "node:fs";
import mysql from "mysql2/promise";
import pg from "pg";
import { familyMs, parentOf } from "./proc.ts";
import { askRedis } from "./redis-ask.ts";

export interface Used {
  readonly processorMs: number | null;
  readonly logBytes: number | null;
}

export interface ServerWatch {
  used(): Promise<Used>;
  close(): Promise<void>;
}

/** Undefined for a store without a server: everything happens in the worker's own process. */
export async function watchServer(url: string): Promise<ServerWatch | undefined> {
  const scheme = new URL(url).protocol;
  if (scheme.startsWith("postgres")) return watchPostgres(url);
  if (scheme === "mysql:") return watchMariadb(url);
  if (scheme === "redis:") return watchRedis(url);
  return undefined;
}

async function watchPostgres(url: string): Promise<ServerWatch> {
  const client = new pg.Client(url);
  await client.connect();
  const one = async (sql: string): Promise<number> => Number((await client.query(sql)).rows[0].it);
  // Every process of the server is a child of the one that started ours.
  const head = parentOf(await one("SELECT pg_backend_pid() AS it"));
  return {
    used: async () => ({
      processorMs: head === null ? null : familyMs(head),
      logBytes: await one("SELECT pg_current_wal_insert_lsn() - '0/0' AS it"),
    }),
    close: () => client.end(),
  };
}

async function watchMariadb(url: string): Promise<ServerWatch> {
  const connection = await mysql.createConnection({ uri: url });
  const one = async (sql: string): Promise<string> => {
    const [rows] = await connection.query<mysql.RowDataPacket[]>(sql);
    return String(Object.values(rows[0] ?? {}).at(-1));
  };
  const pid = readPid(await one("SELECT @@pid_file"));
  return {
    used: async () => ({
      processorMs: pid === null ? null : familyMs(pid),
      logBytes: Number(await one("SHOW GLOBAL STATUS LIKE 'Innodb_lsn_current'")),
    }),
    close: () => connection.end(),
  };
}

async function watchRedis(url: string): Promise<ServerWatch> {
  const pid = Number(/process_id:(\d+)/.exec(await askRedis(url, "INFO server"))?.[1]);
  return { used: async () => ({ processorMs: familyMs(pid), logBytes: null }), close: async () => {} };
}

function readPid(file: string): number | null {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    // The file belongs to the server's account, and we may be neither it nor root.
    return null;
  }
}
