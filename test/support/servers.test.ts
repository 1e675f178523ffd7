import { existsSync } from "node:fs";
import mysql from "mysql2/promise";
import pg from "pg";
import { expect, test } from "vitest";
import { openMysql } from "../../src/store/mysql/index.ts";
import {
  describeWithMariadb,
  describeWithPostgres,
  freshMariadb,
  freshPostgres,
  freshSqlite,
  migratedMariadb,
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

  test("copies what a migration makes: tables, columns, indexes and rows", async () => {
    const url = await freshMariadb();
    const store = openMysql({ url });
    await store.migrate();
    await store.close();
    const made = await contentOf(url);
    expect(made).toContainEqual(expect.stringContaining("CREATE TABLE `sluice_task`"));
    expect(made).toContain("0 others");
    expect(await contentOf(await migratedMariadb())).toEqual(made);
  });
});

test("a fresh SQLite path names a file that is not there yet", async () => {
  expect(existsSync(await freshSqlite())).toBe(false);
});

/** The statement that creates each table, and its number of rows. */
async function contentOf(url: string): Promise<string[]> {
  const connection = await mysql.createConnection(url);
  const query = async (sql: string): Promise<mysql.RowDataPacket[]> =>
    (await connection.query<mysql.RowDataPacket[]>(sql))[0];
  const content: string[] = [];
  for (const table of await query("SHOW TABLES")) {
    const name = String(Object.values(table)[0]);
    const [made] = await query(`SHOW CREATE TABLE ${name}`);
    const [rows] = await query(`SELECT count(*) AS n FROM ${name}`);
    content.push(`${made?.["Create Table"]} with ${rows?.n} rows`);
  }
  // Views, triggers and procedures would not be copied.
  const [others] = await query(`SELECT
    (SELECT count(*) FROM information_schema.views WHERE table_schema = DATABASE()) +
    (SELECT count(*) FROM information_schema.triggers WHERE trigger_schema = DATABASE()) +
    (SELECT count(*) FROM information_schema.routines WHERE routine_schema = DATABASE()) AS n`);
  content.push(`${others?.n} others`);
  await connection.end();
  return content;
}
