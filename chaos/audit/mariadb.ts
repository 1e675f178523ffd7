/**
 * MariaDB does not tell in which order transactions were committed. The order of the rows is the order in
 * which the triggers ran. For the sweep, this is as good where it matters: a transaction that grants at a
 * gate, or changes its limit, writes its row while it holds the gate, so these rows are in commit order. A
 * release may appear a moment before its commit. That can hide a grant that was too early by as much, and the
 * snapshots would see it.
 */
import { COLUMNS, kept, nameOf, WATCHED } from "./columns.ts";

const table = `CREATE TABLE chaos_audit (seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  stamp BIGINT NOT NULL, kind VARCHAR(20) NOT NULL, k1 VARCHAR(191), k2 VARCHAR(191), k3 VARCHAR(191),
  n1 BIGINT, n2 BIGINT, n3 BIGINT, n4 BIGINT, n5 BIGINT) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin`;

const NOW = "CAST(ROUND(UNIX_TIMESTAMP(SYSDATE(3)) * 1000) AS SIGNED)";

const triggers = WATCHED.map((watched) => {
  const insert = `INSERT INTO chaos_audit (stamp, ${COLUMNS}) VALUES (${NOW}, ${kept(watched)})`;
  const body = watched.of
    ? `IF ${watched.of.map((column) => `NOT (NEW.${column} <=> OLD.${column})`).join(" OR ")} THEN ${insert}; END IF`
    : insert;
  return `CREATE TRIGGER ${nameOf(watched)} AFTER ${watched.on} ON ${watched.table} FOR EACH ROW ${body}`;
});

const already = `INSERT INTO chaos_audit (stamp, ${COLUMNS}) SELECT ${NOW}, 'limit', name, NULL, NULL, capacity, paused, NULL, NULL, NULL FROM sluice_gate`;

/** The session of runs in progress, which never ends. */
const runs = `INSERT INTO chaos_audit (stamp, ${COLUMNS}) SELECT ${NOW}, 'session', id, name, NULL, expires_at, NULL, NULL, NULL, NULL FROM sluice_session`;

export const mariadbAudit: readonly string[] = [table, ...triggers, already, runs];

export const readMariadbAudit = `SELECT stamp AS at, stamp, ${COLUMNS} FROM chaos_audit ORDER BY seq`;
