/**
 * Whether a pooler stands between us and the server. One in transaction mode lends a connection for a transaction at a
 * time: what was set or prepared on it before may be on another one now, and hints never arrive.
 */
import type pg from "pg";
import { codeOf } from "../driver-error.ts";
import { SETTINGS } from "./settings.ts";

/**
 * A server tells its process to whoever connects, for cancelling; a pooler tells a number of its own. And where the
 * settings that we connected with are not in force, somebody dropped them on the way.
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

/** PgBouncer knows a few settings and turns away whoever comes with others. */
const refusesSettings = (error: unknown): boolean =>
  codeOf(error) === "08P01" && /startup parameter/i.test(String(error));
