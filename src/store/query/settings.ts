/**
 * The settings of a database as they are in force inside a writing transaction. Only those that matter to
 * durability, locks, speed and our own SQL.
 */
import type { Flow } from "../flow.ts";
import { lastFlight } from "../flow.ts";
import type { Row } from "../row.ts";
import { text } from "../row.ts";
import type { Sql } from "../sql.ts";
import { by } from "../sql.ts";

const POSTGRES = [
  "server_version",
  "server_version_num",
  "server_encoding",
  "fsync",
  "full_page_writes",
  "synchronous_commit",
  "synchronous_standby_names",
  "idle_in_transaction_session_timeout",
  "lock_timeout",
  "transaction_isolation",
  "default_transaction_read_only",
  "jit",
  "plan_cache_mode",
  "enable_seqscan",
];
const MYSQL = [
  "version",
  "innodb_flush_log_at_trx_commit",
  "innodb_doublewrite",
  "log_bin",
  "sync_binlog",
  "idle_transaction_timeout",
  "innodb_lock_wait_timeout",
  // The first name is for MariaDB before 11.1, the second for all others.
  "tx_isolation",
  "transaction_isolation",
  "sql_mode",
  "read_only",
  "max_allowed_packet",
  "autocommit",
];

const listed = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(", ");

const selectSettings: Sql = by({
  postgres: `SELECT name, setting AS value FROM pg_settings WHERE name IN (${listed(POSTGRES)})
      UNION ALL SELECT 'standby', CASE WHEN pg_is_in_recovery() THEN 'on' ELSE 'off' END`,
  sqlite: `SELECT 'version' AS name, sqlite_version() AS value
      UNION ALL SELECT 'journal_mode', journal_mode FROM pragma_journal_mode
      UNION ALL SELECT 'synchronous', CAST(synchronous AS TEXT) FROM pragma_synchronous`,
  mysql: `SHOW VARIABLES WHERE Variable_name IN (${listed(MYSQL)})`,
});

const NONE = "SELECT 1 AS name, 1 AS engine WHERE 1 = 0";

/** Our tables that are not in InnoDB: other engines keep none of our promises. Only MySQL has engines. */
const selectForeignEngines: Sql = by({
  postgres: NONE,
  sqlite: NONE,
  mysql: `SELECT table_name AS name, engine AS engine FROM information_schema.tables
      WHERE table_schema = DATABASE() AND table_name LIKE 'sluice\\_%' AND engine <> 'InnoDB' ORDER BY table_name`,
});

export function* settings(): Flow<Record<string, string>> {
  const { found, engines } = yield* lastFlight({
    found: selectSettings.as(pair),
    engines: selectForeignEngines.as((row) => `${text(row.name)} (${text(row.engine)})`),
  });
  return { ...Object.fromEntries(found), ...(engines.length > 0 ? { engines: engines.join(", ") } : {}) };
}

/** MySQL names the columns in its own way, and a value may be of any type. */
const pair = (row: Row): [string, string] => [
  text(row.name ?? row.Variable_name),
  String(row.value ?? row.Value ?? ""),
];

/** MySQL 8 caches the auto-increment counters for a day. MariaDB skips the part in the comment. */
export const lookAfresh: Sql = by({
  postgres: "SELECT 1 AS one",
  sqlite: "SELECT 1 AS one",
  mysql: "SET @sluice_afresh = 1 /*!80000 , SESSION information_schema_stats_expiry = 0 */",
});
