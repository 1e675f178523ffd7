/**
 * The settings that our transactions run under, whatever the server's own settings are. MySQL 8 and MariaDB
 * 10.6 both know them, except those in comments, which only one of them reads: `/*!80000` MySQL, `/*M!`
 * MariaDB.
 */
import { BY_BYTES } from "../schema.ts";

const OURS: Readonly<Record<string, string>> = {
  // Errors are not downgraded to warnings, and a value that does not fit is not truncated.
  sql_mode: "'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'",
  // Only we begin a transaction, and COMMIT only ends it.
  autocommit: "1",
  completion_type: "0",
  // We do not wait longer than this for a lock.
  innodb_lock_wait_timeout: "3",
  // A local time that is set back by an hour stands for two instants.
  time_zone: "'+00:00'",
  // Return all rows, sort by the whole text, and refuse no update or join for its possible cost.
  sql_select_limit: "18446744073709551615",
  max_sort_length: "1024",
  sql_safe_updates: "0",
  sql_big_selects: "1",
  sql_auto_is_null: "0",
  unique_checks: "1",
  // A connection that waits for work may be idle for a long time.
  wait_timeout: "28800",
};

/**
 * No statement is cut off by a time limit, except while it waits for a lock. MariaDB ends a transaction whose
 * client went silent; MySQL cannot.
 */
const OF_ONE =
  "/*!80000 , SESSION max_execution_time = 0 *//*M!100600 , SESSION max_statement_time = 0, SESSION idle_transaction_timeout = 1 */";

const all = Object.entries(OURS).map(([name, value]) => `SESSION ${name} = ${value}`);

export const SETTINGS = `SET ${all.join(", ")}${OF_ONE}; SET NAMES utf8mb4 ${BY_BYTES}; SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED`;
