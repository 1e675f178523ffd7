import mysql from "mysql2/promise";
import { start } from "../../test/support/mariadb.ts";
import { mariadbAudit, readMariadbAudit } from "../audit/mariadb.ts";
import { MysqlWatch } from "../proxy/mysql-watch.ts";
import { patiently } from "./patience.ts";
import type { Place, Row } from "./place.ts";

export async function mariadbPlace(): Promise<Place> {
  const server = await start();
  const first = await mysql.createConnection({ uri: server.url });
  await first.query("CREATE DATABASE chaos CHARACTER SET utf8mb4");
  await first.end();
  const url = new URL(server.url);
  url.pathname = "/chaos";
  const pool = mysql.createPool({ uri: url.href, connectionLimit: 4, connectTimeout: 5_000 });
  const sql = (text: string): Promise<Row[]> =>
    patiently(async () => {
      const [rows] = await pool.query(text);
      return Array.isArray(rows) ? (rows as Row[]) : [];
    });
  const takeAway = async (): Promise<() => Promise<void>> => {
    await server.halt("SIGKILL");
    return () => server.again();
  };
  return {
    store: "mariadb",
    url: url.href,
    newWatch: () => new MysqlWatch(),
    sql,
    plant: async () => {
      for (const statement of mariadbAudit) await sql(statement);
    },
    audit: () => sql(readMariadbAudit),
    leaseNow: () => "CAST(ROUND(UNIX_TIMESTAMP(SYSDATE(3)) * 1000) AS SIGNED)",
    leaseToWall: 0,
    crash: async () => {
      const back = await takeAway();
      await back();
    },
    takeAway,
    openTransactions: async () => {
      const rows = await sql(
        "SELECT count(*) AS count FROM information_schema.innodb_trx WHERE trx_started < NOW() - INTERVAL 4 SECOND",
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
