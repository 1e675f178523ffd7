import type pg from "pg";
import { SluiceError } from "../../core/error.ts";
import { checkVersion, migrations, versionTable } from "../schema.ts";
import { refusal } from "./refusal.ts";
import { SETTINGS } from "./settings.ts";

/** One process migrates and the others wait for it: the lock lasts as long as the transaction. */
const LOCK = 7_305_401;

export async function migratePostgres(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN ISOLATION LEVEL READ COMMITTED");
    // A process that waits here waits for a whole migration. The lock timeout for the tables themselves stays
    // as usual.
    await client.query(
      "SELECT set_config('lock_timeout', '0', true), set_config('statement_timeout', '0', true)",
    );
    await mustStoreAnyText(client);
    await client.query(`SELECT pg_advisory_xact_lock(${LOCK})`);
    await client.query(`SET LOCAL lock_timeout = '${SETTINGS.lock_timeout}'`);
    await client.query(versionTable("postgres"));
    const known = await versionOf(client);
    for (const [index, statements] of migrations("postgres").entries()) {
      if (index < known) continue;
      for (const statement of statements) await client.query(statement);
      await client.query(
        "INSERT INTO sluice_schema (version, applied_at) VALUES ($1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)",
        [index + 1],
      );
    }
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw refusal(error);
  } finally {
    client.release();
  }
}

/** Such a database would refuse inputs, and lose results and errors, that have characters of another script. */
async function mustStoreAnyText(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query("SHOW server_encoding");
  const encoding = String(rows[0]?.server_encoding);
  if (encoding === "UTF8" || encoding === "SQL_ASCII") return;
  throw new SluiceError(
    "STORE_REFUSED",
    `The database has the encoding ${encoding}, which cannot store every text. Create one with ENCODING 'UTF8'.`,
  );
}

async function versionOf(client: pg.ClientBase | pg.Pool): Promise<number> {
  const { rows } = await client.query("SELECT MAX(version) AS version FROM sluice_schema");
  return Number(rows[0]?.version ?? 0);
}

export async function verifyPostgres(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query("SELECT to_regclass('sluice_schema') AS found");
  const version = rows[0]?.found ? await versionOf(pool) : 0;
  checkVersion(version);
}
