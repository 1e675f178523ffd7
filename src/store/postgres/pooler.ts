/**
 * Detects a pooler between us and the server. A pooler in transaction mode lends a connection for one
 * transaction at a time. Settings and prepared statements may be on another connection the next time, and
 * hints never arrive.
 */
import type pg from "pg";
import { codeOf } from "../driver-error.ts";
import { SETTINGS } from "./settings.ts";

/**
 * A server tells each client its process id, for cancelling; a pooler tells a number of its own. And if the
 * settings that we connected with are not in force, something in between dropped them.
 */
export async function findPooler(pool: pg.Pool): Promise<boolean> {
  let client: pg.PoolClient;
  try {
    client = await pool.connect();
  } catch (error) {
    if (!refusesSettings(error)) throw error;
    pool.options.options = undefined;
    return true;
  }
  try {
    const { rows } = await client.query(
      "SELECT pg_backend_pid() AS process, current_setting('plan_cache_mode') AS plans",
    );
    client.release();
    const told = "processID" in client ? client.processID : undefined;
    return rows[0]?.process !== told || rows[0]?.plans !== SETTINGS.plan_cache_mode;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** PgBouncer knows a few settings and refuses clients that bring others. */
const refusesSettings = (error: unknown): boolean =>
  codeOf(error) === "08P01" && /startup parameter/i.test(String(error));
