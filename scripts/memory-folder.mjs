// A folder in memory for the databases of the tests, where there is room for them.
//
// The tests kill processes, never the machine, and what a process wrote outlives it in memory as it does on a disk. The
// servers run with the same settings and call fsync as often as on a disk; it only returns sooner. Storms and benchmarks
// stay on the disk.

import { chmodSync, mkdtempSync, readFileSync, statfsSync } from "node:fs";
import { join } from "node:path";

const MEMORY = "/dev/shm";
/** A generous estimate: databases stay until the end of the run, at some ten megabytes each. */
const ROOM_BYTES = 12 * 2 ** 30;

/** The path of a new folder, or undefined where the disk has to do. */
export function memoryFolder() {
  if (process.env.SLUICE_TEST_DISK || !hasRoom()) return undefined;
  const folder = mkdtempSync(join(MEMORY, "sluice-test-"));
  // Servers run as a user of their own, who has to get in.
  chmodSync(folder, 0o755);
  return folder;
}

function hasRoom() {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    const available = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync("/proc/meminfo", "utf8"));
    return bavail * bsize > ROOM_BYTES && Number(available?.[1]) * 1024 > ROOM_BYTES;
  } catch {
    return false;
  }
}
