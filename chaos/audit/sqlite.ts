/** SQLite has one writer at a time, so the order of the rows is the order of the commits. */
import { COLUMNS, kept, nameOf, WATCHED } from "./columns.ts";

const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

const table = `CREATE TABLE chaos_audit (seq INTEGER PRIMARY KEY AUTOINCREMENT, stamp INTEGER NOT NULL,
  kind TEXT NOT NULL, k1 TEXT, k2 TEXT, k3 TEXT, n1 INTEGER, n2 INTEGER, n3 INTEGER, n4 INTEGER, n5 INTEGER)`;

const triggers = WATCHED.map(
  (watched) =>
    `CREATE TRIGGER ${nameOf(watched)} AFTER ${watched.on}${watched.of ? ` OF ${watched.of.join(", ")}` : ""} ON ${watched.table}
    BEGIN INSERT INTO chaos_audit (stamp, ${COLUMNS}) VALUES (${NOW}, ${kept(watched)}); END`,
);

const already = `INSERT INTO chaos_audit (stamp, ${COLUMNS}) SELECT ${NOW}, 'limit', name, NULL, NULL, capacity, paused, NULL, NULL, NULL FROM sluice_gate`;

/** The session of runs in progress, which never ends. */
const runs = `INSERT INTO chaos_audit (stamp, ${COLUMNS}) SELECT ${NOW}, 'session', id, name, NULL, expires_at, NULL, NULL, NULL, NULL FROM sluice_session`;

export const sqliteAudit: readonly string[] = [table, ...triggers, already, runs];

/** The trigger records the wall clock. Leases use the monotonic clock. */
export const readSqliteAudit = `SELECT stamp AS at, stamp, ${COLUMNS} FROM chaos_audit ORDER BY seq`;
