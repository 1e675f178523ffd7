import type { Pool, PoolConnection, RowDataPacket } from "mysql2/promise";
import { SluiceError } from "../../core/error.ts";
import { codeOf } from "../driver-error.ts";
import { checkVersion, migrations, versionTable } from "../schema.ts";

/**
 * Data definition statements commit by themselves here. So a named lock keeps two migrations apart, and an
 * interrupted migration is started again and skips what it had already done. All of it uses one connection,
 * because the pool may have no other.
 */
export async function migrateMysql(pool: Pool): Promise<void> {
  const connection = await pool.getConnection();
  try {
    await lock(connection);
    await connection.query(versionTable("mysql"));
    const known = await versionOf(connection);
    for (const [index, statements] of migrations("mysql").entries()) {
      if (index < known) continue;
      for (const statement of statements) await doOnce(connection, statement);
      await connection.query(
        "INSERT INTO sluice_schema (version, applied_at) VALUES (?, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED))",
        [index + 1],
      );
    }
  } finally {
    await connection.query("SELECT RELEASE_LOCK('sluice_migrate')").catch(() => {});
    connection.release();
  }
}

/** The table, column or index to create already exists, or the one to drop is already gone. */
const DONE = new Set([
  "ER_TABLE_EXISTS_ERROR",
  "ER_DUP_FIELDNAME",
  "ER_DUP_KEYNAME",
  "ER_CANT_DROP_FIELD_OR_KEY",
]);

/** MySQL has no IF NOT EXISTS for a column or an index. An UPDATE of a migration can be repeated as it is. */
async function doOnce(connection: PoolConnection, statement: string): Promise<void> {
  await connection.query(keepingRows(statement)).catch((error: unknown) => {
    if (!DONE.has(codeOf(error))) throw error;
  });
}

/** Rows that an earlier attempt inserted stay as they are; missing rows are added. */
function keepingRows(statement: string): string {
  const [, table, column] = /^INSERT INTO (\w+) \((\w+)/.exec(statement) ?? [];
  if (table === undefined) return statement;
  return `${statement} ON DUPLICATE KEY UPDATE ${table}.${column} = ${table}.${column}`;
}

/** A migration never continues without the lock: another one may be in the middle of changing a table. */
async function lock(connection: PoolConnection): Promise<void> {
  const [rows] = await connection.query<RowDataPacket[]>("SELECT GET_LOCK('sluice_migrate', 60) AS got");
  if (Number(rows[0]?.got) === 1) return;
  throw new SluiceError(
    "MIGRATION_BUSY",
    "Another process has been migrating this store for a minute, so this one did nothing. Wait for it, then migrate again.",
    { remedies: [{ action: "migrate" }] },
  );
}

async function versionOf(connection: Pool | PoolConnection): Promise<number> {
  const [rows] = await connection.query<RowDataPacket[]>("SELECT MAX(version) AS version FROM sluice_schema");
  return Number(rows[0]?.version ?? 0);
}

export async function verifyMysql(pool: Pool): Promise<void> {
  const [tables] = await pool.query<RowDataPacket[]>("SHOW TABLES LIKE 'sluice_schema'");
  const version = tables.length > 0 ? await versionOf(pool) : 0;
  checkVersion(version);
}
