import { randomUUID } from "node:crypto";
import pg from "pg";
import { start, startInstalled } from "../../test/support/postgres.ts";
import { postgresAudit, readPostgresAudit } from "../audit/postgres.ts";
import { PostgresWatch } from "../proxy/postgres-watch.ts";
import { patiently } from "./patience.ts";
import type { Place, Row } from "./place.ts";

/** With these settings, the server itself remembers the order of commits. */
const SETTINGS = { track_commit_timestamp: "on", log_lock_waits: "on", log_line_prefix: "%m %p " };

export async function postgresPlace(store: "postgres" | "installed"): Promise<Place> {
  const server = await (store === "installed" ? startInstalled(SETTINGS) : start(SETTINGS));
  const url = new URL(server.url);
  await onceWith(server.url, (client) => client.query(`CREATE DATABASE chaos`));
  url.pathname = "/chaos";
  const pool = new pg.Pool({
    connectionString: url.href,
    max: 4,
    application_name: `chaos-${randomUUID().slice(0, 8)}`,
    connectionTimeoutMillis: 5_000,
  });
  pool.on("error", () => {});
  const sql = (text: string): Promise<Row[]> => patiently(async () => (await pool.query(text)).rows as Row[]);
  const crash = async (): Promise<void> => {
    await server.halt("SIGQUIT");
    await server.again();
  };
  return {
    store,
    url: url.href,
    newWatch: () => new PostgresWatch(),
    sql,
    plant: async () => {
      for (const statement of postgresAudit) await sql(statement);
    },
    audit: () => sql(readPostgresAudit),
    leaseNow: () => "(extract(epoch FROM clock_timestamp()) * 1000)::bigint",
    leaseToWall: 0,
    crash,
    takeAway: async () => {
      await server.halt("SIGQUIT");
      return () => server.again();
    },
    openTransactions: async () => {
      const rows = await sql(
        "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = 'chaos' AND state LIKE 'idle in transaction%' AND state_change < now() - interval '2 seconds'",
      );
      return Number(rows[0]?.count);
    },
    serverLog: server.log,
    close: async () => {
      await pool.end().catch(() => {});
      await server.stop();
    },
  };
}

async function onceWith(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
