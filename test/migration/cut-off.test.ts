// On MySQL and MariaDB, every statement that creates a table commits by itself, so a migration can be cut off
// after any of them. The next migration ends with the same tables and rows as an undisturbed one.

import type { Pool, PoolConnection } from "mysql2/promise";
import { expect, onTestFinished, test } from "vitest";
import { MysqlDatabase } from "../../src/store/mysql/database.ts";
import { migrateMysql } from "../../src/store/mysql/migrate.ts";
import { migrations, recordVersion, SCHEMA_VERSION, versionTable } from "../../src/store/schema.ts";
import type { Aside, Row } from "../conformance/tables.ts";
import { besideMariadb } from "../conformance/tables.ts";
import { describeWithMariadb, freshMariadb } from "../support/databases.ts";

/** A pool whose connections are lost after this many statements. */
const cutAfter = (pool: Pool, statements: number): Pool =>
  new Proxy(pool, {
    get: (target, name, self) =>
      name === "getConnection"
        ? async () => losing(await target.getConnection(), statements)
        : Reflect.get(target, name, self),
  });

function losing(connection: PoolConnection, statements: number): PoolConnection {
  let left = statements;
  const query = async (text: string, values?: unknown[]): Promise<unknown> => {
    if (left === 0) connection.destroy();
    left -= 1;
    return connection.query(text, values);
  };
  return new Proxy(connection, {
    get: (target, name) => {
      if (name === "query") return query;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

interface Place {
  readonly pool: Pool;
  readonly beside: Aside;
  version(): Promise<number>;
}

async function place(): Promise<Place> {
  const url = await freshMariadb();
  const database = new MysqlDatabase({ url });
  const beside = await besideMariadb(url);
  onTestFinished(async () => {
    await beside.close();
    await database.close();
  });
  const version = async (): Promise<number> => {
    const [table] = await beside.query("SHOW TABLES LIKE 'sluice_schema'");
    if (!table) return 0;
    const [row] = await beside.query("SELECT MAX(version) AS version FROM sluice_schema");
    return Number(row?.version ?? 0);
  };
  return { pool: database.pool, beside, version };
}

/** Rows of a store at schema 2 that schema 3 changes. */
const OLD = [
  "INSERT INTO sluice_gate (name, capacity, declared, line) VALUES ('cluster', 5, 5, 'skip'), ('queue:mail', -1, -1, 'skip'), ('queue:post', 3, 3, 'skip'), ('runs', 7, 7, 'skip')",
  "INSERT INTO sluice_queue (name, queue_rank) VALUES ('mail', 1), ('post', 100)",
  "INSERT INTO sluice_lane (id, queue, task, asks, state, parked, head_precedence, head_at, head_id, blocked) VALUES ('l', 'mail', 'send', '[]', 2, 'cluster', 0, 0, 'a', '[]')",
];

/** Cuts the migration off after its first statement, its second, and so on, until it completes. */
async function migrateInPieces({ pool, beside, version }: Place): Promise<number> {
  let cuts = 0;
  let known = 0;
  for (let statements = 0; ; statements += 1) {
    const failure = await migrateMysql(cutAfter(pool, statements)).then(
      () => undefined,
      (error: unknown) => error as Error,
    );
    const now = await version();
    if (known < 2 && now >= 2) for (const statement of OLD) await beside.query(statement);
    // The next version's statements are counted from the first again.
    if (now > known) statements = 0;
    known = now;
    if (!failure && now === SCHEMA_VERSION) return cuts;
    expect(failure?.message).toMatch(/closed state/);
    cuts += 1;
  }
}

/** Migrates without interruption, with the same rows added after schema 2. */
async function migrateAtOnce({ pool, beside }: Place): Promise<void> {
  await beside.query(versionTable("mysql"));
  for (const [index, statements] of migrations("mysql").slice(0, 2).entries())
    for (const statement of [...statements, recordVersion(index + 1)]) await beside.query(statement);
  for (const statement of OLD) await beside.query(statement);
  await migrateMysql(pool);
}

async function schemaOf({ beside }: Place): Promise<Record<string, Row[]>> {
  const of = (table: string, columns: string, order: string): Promise<Row[]> =>
    beside.query(
      `SELECT ${columns} FROM information_schema.${table} WHERE table_schema = DATABASE() ORDER BY ${order}`,
    );
  return {
    tables: await of("tables", "table_name, engine, table_collation", "table_name"),
    columns: await of(
      "columns",
      "table_name, column_name, ordinal_position, column_type, is_nullable, column_default, collation_name, column_key, extra",
      "table_name, ordinal_position",
    ),
    indexes: await of(
      "statistics",
      "table_name, index_name, seq_in_index, column_name, non_unique",
      "table_name, index_name, seq_in_index",
    ),
  };
}

async function rowsOf({ beside }: Place): Promise<Record<string, Row[]>> {
  const tables = await beside.query("SHOW TABLES LIKE 'sluice\\_%'");
  const all: Record<string, Row[]> = {};
  for (const name of tables.map((row) => String(Object.values(row)[0])).sort()) {
    const rows = await beside.query(`SELECT * FROM ${name}`);
    all[name] = rows
      .map(({ applied_at: _, ...row }) => row)
      .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  return all;
}

describeWithMariadb("on MariaDB", () => {
  test("a migration that is cut off after any of its statements is ended by the next one", {
    timeout: 240_000,
  }, async () => {
    const [cut, whole] = [await place(), await place()];
    const cuts = await migrateInPieces(cut);
    await migrateAtOnce(whole);
    expect(cuts).toBeGreaterThan(70);
    expect(await schemaOf(cut)).toEqual(await schemaOf(whole));
    expect(await rowsOf(cut)).toEqual(await rowsOf(whole));
  });
});
