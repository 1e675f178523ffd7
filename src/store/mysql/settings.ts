/**
 * The settings that our transactions run under, whatever the server has been given. Only such as MySQL 8 and MariaDB 10.6 both
 * know, but for those in comments, which only one of them reads: `/*!80000` MySQL, `/*M!` MariaDB.
 */
import { BY_BYTES } from "../schema.ts";

const OURS: Readonly<Record<string, string>> = {
  // What fails fails, and a value that does not fit is not cut.
  sql_mode: "'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'",
  // A transaction begins where we say so, and COMMIT ends it and nothing else.
  autocommit: "1",
  completion_type: "0",
  // A holder of locks is not waited for longer.
  innodb_lock_wait_timeout: "3",
  // A local time that is set back by an hour is two instants at once.
  time_zone: "'+00:00'",
  // All rows, found and sorted by all of their text, and no update or join refused for what it might cost.
  sql_select_limit: "18446744073709551615",
  max_sort_length: "1024",
  sql_safe_updates: "0",
  sql_big_selects: "1",
  sql_auto_is_null: "0",
  unique_checks: "1",
  // A connection that waits for work is idle for as long as there is none.
  wait_timeout: "28800",
};

/** No statement is ended but by what it waits for. MariaDB ends a transaction whose client went silent; MySQL cannot. */
const OF_ONE =
  "/*!80000 , SESSION max_execution_time = 0 *//*M!100600 , SESSION max_statement_time = 0, SESSION idle_transaction_timeout = 1 */";

const all = Object.entries(OURS).map(([name, value]) => `SESSION ${name} = ${value}`);

export const SETTINGS = `SET ${all.join(", ")}${OF_ONE}; SET NAMES utf8mb4 ${BY_BYTES}; SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED`;
