/**
 * The order of commits is the server's own (track_commit_timestamp): a transaction that saw a commit was
 * committed later.
 */
import { COLUMNS, kept, nameOf, WATCHED } from "./columns.ts";

const table = `CREATE TABLE chaos_audit (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tx xid NOT NULL DEFAULT pg_current_xact_id()::xid,
  stamp bigint NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
  kind text NOT NULL, k1 text, k2 text, k3 text, n1 bigint, n2 bigint, n3 bigint, n4 bigint, n5 bigint)`;

const triggers = WATCHED.flatMap((watched) => [
  `CREATE FUNCTION ${nameOf(watched)}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO chaos_audit (${COLUMNS}) VALUES (${kept(watched)}); RETURN NULL; END $$`,
  `CREATE TRIGGER ${nameOf(watched)} AFTER ${watched.on}${watched.of ? ` OF ${watched.of.join(", ")}` : ""} ON ${watched.table}
    FOR EACH ROW EXECUTE FUNCTION ${nameOf(watched)}()`,
]);

/** Limits that existed before the audit. */
const already = `INSERT INTO chaos_audit (${COLUMNS}) SELECT 'limit', name, NULL, NULL, capacity, paused, NULL, NULL, NULL FROM sluice_gate`;

/** The session of runs in progress, which never ends. */
const runs = `INSERT INTO chaos_audit (${COLUMNS}) SELECT 'session', id, name, NULL, expires_at, NULL, NULL, NULL, NULL FROM sluice_session`;

export const postgresAudit: readonly string[] = [table, ...triggers, already, runs];

export const readPostgresAudit = `SELECT (extract(epoch FROM pg_xact_commit_timestamp(tx)) * 1000)::float8 AS at, stamp, ${COLUMNS}
  FROM chaos_audit ORDER BY pg_xact_commit_timestamp(tx), seq`;
