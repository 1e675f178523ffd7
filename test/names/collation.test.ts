// A database created by an earlier version ignores trailing spaces in text. After the migration it does not.

import mysql from "mysql2/promise";
import { expect, test } from "vitest";
import { connect, defineApp, task } from "../../src/index.ts";
import { BY_BYTES, migrations, recordVersion, versionTable } from "../../src/store/schema.ts";
import { describeWithMariadb, freshMariadb } from "../support/databases.ts";

const echo = task({ id: "echo", run: (input: number) => input });
const app = defineApp({ tasks: [echo] });

/** Creates the tables of schema 2 as that version did. */
async function asItWas(url: string): Promise<mysql.Connection> {
  const connection = await mysql.createConnection(url);
  const then = (text: string): string => text.replaceAll(BY_BYTES, "COLLATE utf8mb4_bin");
  await connection.query(then(versionTable("mysql")));
  for (const [index, statements] of migrations("mysql").slice(0, 2).entries()) {
    for (const statement of statements) await connection.query(then(statement));
    await connection.query(recordVersion(index + 1));
  }
  return connection;
}

describeWithMariadb("on MariaDB", () => {
  test("every column compares by bytes after the migration, whoever made it", async () => {
    const url = await freshMariadb();
    const beside = await asItWas(url);
    await beside.query(
      `INSERT INTO sluice_task (id, name, queue, lane, asks, priority, input, options, idem_key, created_at)
       VALUES ('old', 'echo', 'default', 'lane', '[]', 0, '1', '{}', 'order-1', 0)`,
    );
    await using sluice = await connect({ store: url, app, migrate: true });
    const [columns] = await beside.query<mysql.RowDataPacket[]>(
      `SELECT table_name AS name, column_name AS col FROM information_schema.columns
       WHERE table_schema = DATABASE() AND table_name LIKE 'sluice%' AND collation_name IS NOT NULL AND collation_name <> 'utf8mb4_nopad_bin'`,
    );
    await beside.end();
    expect(columns).toEqual([]);
    expect(await sluice.enqueue(echo, 2, { idempotencyKey: "order-1" })).toEqual({
      id: "old",
      created: false,
    });
    expect(await sluice.enqueue(echo, 2, { idempotencyKey: "order-1 " })).toMatchObject({ created: true });
  });
});
