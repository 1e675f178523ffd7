/** The embedded store is migrated automatically when it is opened. */
import type { DatabaseSyncInstance } from "@photostructure/sqlite";
import type { Row } from "../row.ts";
import { intOrNull } from "../row.ts";
import { migrations, versionTable } from "../schema.ts";
import type { SqliteTime } from "./time.ts";

export function schemaVersion(db: DatabaseSyncInstance): number {
  const table = db.prepare("SELECT name FROM sqlite_master WHERE name = 'sluice_schema'").get();
  if (!table) return 0;
  const row: Row = db.prepare("SELECT MAX(version) AS version FROM sluice_schema").get();
  return intOrNull(row.version) ?? 0;
}

export function migrateSqlite(db: DatabaseSyncInstance, time: SqliteTime): void {
  db.exec("BEGIN IMMEDIATE");
  try {
    db.exec(versionTable("sqlite"));
    db.exec("CREATE TABLE IF NOT EXISTS sluice_boot (boot_id TEXT NOT NULL)");
    migrations("sqlite")
      .slice(schemaVersion(db))
      .forEach((statements, index, rest) => {
        for (const statement of statements) db.exec(statement);
        const version = migrations("sqlite").length - rest.length + index + 1;
        db.prepare("INSERT INTO sluice_schema (version, applied_at) VALUES (?, ?)").run(version, time.wall());
      });
    voidLeasesOfEarlierBoots(db, time);
    db.exec("COMMIT");
  } catch (error) {
    db.exec("ROLLBACK");
    throw error;
  }
}

/**
 * The clock of leases starts at zero with the host, so leases from before the last start mean nothing now.
 */
function voidLeasesOfEarlierBoots(db: DatabaseSyncInstance, time: SqliteTime): void {
  const known: Row | undefined = db.prepare("SELECT boot_id FROM sluice_boot").get();
  if (known?.boot_id === time.bootId) return;
  // Runs in progress outlive every process, and a restart of the machine.
  db.exec("DELETE FROM sluice_session WHERE id <> '@runs'");
  // Claims with a lease of their own have lost it too, and no process is working on a trigger any more.
  db.exec("UPDATE sluice_running SET until_at = 0 WHERE until_at IS NOT NULL");
  db.exec("UPDATE sluice_trigger SET busy_until = NULL");
  db.exec("DELETE FROM sluice_boot");
  db.prepare("INSERT INTO sluice_boot (boot_id) VALUES (?)").run(time.bootId);
}
