/** The embedded store: one file, several processes, nothing to install. */
import { mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { sleep } from "../../env/timers.ts";
import { SqlStore } from "../sql-store.ts";
import type { Store } from "../store.ts";
import { SqliteDatabase } from "./database.ts";
import type { SqliteTime } from "./time.ts";

export type { SqliteTime } from "./time.ts";

/** The clocks of this host. `hrtime` counts from the host's start, the same in every process. */
export function hostTime(): SqliteTime {
  return {
    wall: () => Date.now(),
    lease: () => Number(process.hrtime.bigint()) / 1e6,
    bootId: bootId(),
    sleep: (ms) => sleep(ms),
  };
}

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    // On other systems: when the host started, rounded to the minute.
    return String(Math.round((Date.now() - Number(process.hrtime.bigint()) / 1e6) / 60_000));
  }
}

export interface SqliteOptions {
  /** If false, a file without a store in it is refused and left unchanged. */
  readonly create?: boolean;
}

export async function openSqlite(
  path: string,
  time: SqliteTime = hostTime(),
  { create = true }: SqliteOptions = {},
): Promise<Store> {
  if (create) mkdirSync(dirname(path), { recursive: true });
  const database = new SqliteDatabase(path, time);
  try {
    if (!create && database.isBlank()) await database.verify();
    await database.migrate();
  } catch (error) {
    await database.close();
    throw error;
  }
  return new SqlStore(database);
}
