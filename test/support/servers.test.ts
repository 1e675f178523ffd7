import { existsSync } from "node:fs";
import mysql from "mysql2/promise";
import pg from "pg";
import { expect, test } from "vitest";
import {
  describeWithMariadb,
  describeWithPostgres,
  freshMariadb,
  freshPostgres,
  freshSqlite,
} from "./databases.ts";

describeWithPostgres("the PostgreSQL of the tests", () => {
  test("is durable as people run it, and sorts text by a language's rules", async () => {
    const client = new pg.Client({ connectionString: await freshPostgres() });
    await client.connect();
    const one = async (sql: string) => Object.values((await client.query(sql)).rows[0])[0];
    expect(await one("SHOW fsync")).toBe("on");
    expect(await one("SHOW synchronous_commit")).toBe("on");
    expect(await one("SELECT 'a' < 'B'")).toBe(true);
    await client.end();
  });
});

describeWithMariadb("the MariaDB of the tests", () => {
  test("is durable as people run it", async () => {
    const connection = await mysql.createConnection(await freshMariadb());
    const [rows] = await connection.query<mysql.RowDataPacket[]>(
      "SELECT @@innodb_flush_log_at_trx_commit AS flush, VERSION() AS version",
    );
    expect(rows[0]?.flush).toBe(1);
    expect(rows[0]?.version).toContain("MariaDB");
    await connection.end();
  });
});

test("a fresh SQLite path names a file that is not there yet", async () => {
  expect(existsSync(await freshSqlite())).toBe(false);
});
