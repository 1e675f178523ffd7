// A folder in memory for the tests' databases, if there is room.
//
// The tests kill processes, never the machine, and files in memory outlive a process just as files on disk
// do. The servers run with the same settings and call fsync as often as on a disk; it only returns sooner.
// Chaos and benchmarks stay on disk.

import { chmodSync, mkdtempSync, readFileSync, statfsSync } from "node:fs";
import { join } from "node:path";

const MEMORY = "/dev/shm";
/** A generous estimate: databases stay until the end of the run and take about ten megabytes each. */
const ROOM_BYTES = 12 * 2 ** 30;

/** Returns the path of a new folder, or undefined if the disk must be used. */
export function memoryFolder() {
  if (process.env.SLUICE_TEST_DISK || !hasRoom()) return undefined;
  const folder = mkdtempSync(join(MEMORY, "sluice-test-"));
  // Servers run as another user, who needs access.
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
