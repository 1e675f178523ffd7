/**
 * MariaDB remembers in which order transactions were committed only for tables that are versioned by transaction; so
 * the audit is one. The registry's `commit_id` is that order.
 */
import { COLUMNS, kept, nameOf, WATCHED } from "./columns.ts";

const table = `CREATE TABLE chaos_audit (seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  stamp BIGINT NOT NULL, kind VARCHAR(20) NOT NULL, k1 VARCHAR(191), k2 VARCHAR(191), k3 VARCHAR(191),
  n1 BIGINT, n2 BIGINT, n3 BIGINT, n4 BIGINT, n5 BIGINT,
  began BIGINT UNSIGNED GENERATED ALWAYS AS ROW START, ended BIGINT UNSIGNED GENERATED ALWAYS AS ROW END,
  PERIOD FOR SYSTEM_TIME (began, ended)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin WITH SYSTEM VERSIONING`;

const NOW = "CAST(ROUND(UNIX_TIMESTAMP(SYSDATE(3)) * 1000) AS SIGNED)";

const triggers = WATCHED.map((watched) => {
  const insert = `INSERT INTO chaos_audit (stamp, ${COLUMNS}) VALUES (${NOW}, ${kept(watched)})`;
  const body = watched.of
    ? `IF ${watched.of.map((column) => `NOT (NEW.${column} <=> OLD.${column})`).join(" OR ")} THEN ${insert}; END IF`
    : insert;
  return `CREATE TRIGGER ${nameOf(watched)} AFTER ${watched.on} ON ${watched.table} FOR EACH ROW ${body}`;
});

const already = `INSERT INTO chaos_audit (stamp, ${COLUMNS}) SELECT ${NOW}, 'limit', name, NULL, NULL, capacity, paused, NULL, NULL, NULL FROM sluice_gate`;

export const mariadbAudit: readonly string[] = [table, ...triggers, already];

export const readMariadbAudit = `SELECT UNIX_TIMESTAMP(t.commit_timestamp) * 1000 AS at, a.stamp, ${COLUMNS.split(
  ", ",
)
  .map((column) => `a.${column}`)
  .join(", ")}
  FROM chaos_audit a JOIN mysql.transaction_registry t ON t.transaction_id = a.began ORDER BY t.commit_id, a.seq`;
