import type { Pool, RowDataPacket } from "mysql2/promise";
import { checkVersion, migrations, versionTable } from "../schema.ts";

/** Data definition commits by itself here, so a named lock keeps two migrations apart. */
export async function migrateMysql(pool: Pool): Promise<void> {
  const connection = await pool.getConnection();
  try {
    await connection.query("SELECT GET_LOCK('sluice_migrate', 60)");
    await connection.query(versionTable("mysql"));
    const known = await versionOf(pool);
    for (const [index, statements] of migrations("mysql").entries()) {
      if (index < known) continue;
      for (const statement of statements) await connection.query(statement);
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

async function versionOf(pool: Pool): Promise<number> {
  const [rows] = await pool.query<RowDataPacket[]>("SELECT MAX(version) AS version FROM sluice_schema");
  return Number(rows[0]?.version ?? 0);
}

export async function verifyMysql(pool: Pool): Promise<void> {
  const [tables] = await pool.query<RowDataPacket[]>("SHOW TABLES LIKE 'sluice_schema'");
  const version = tables.length > 0 ? await versionOf(pool) : 0;
  checkVersion(version);
}
