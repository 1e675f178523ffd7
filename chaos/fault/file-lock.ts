/**
 * SQLite has no wire to listen on. But a writer holds a lock on a byte of the file, and the kernel tells who.
 * So we watch a worker until it holds the write lock and stop it right then, in the middle of a transaction.
 * We never stop it on suspicion: that would keep it from its work without a recorded fault.
 */
import { readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Worker } from "../crew/worker.ts";
import type { Place } from "../place/place.ts";

/** The byte of the shared-memory file that SQLite's writer locks. */
const WRITE_LOCK = 120;
const WITHIN_MS = 8_000;
/** A signal takes effect a moment after it was sent. */
const SURELY_STOPPED_MS = 2;

/** True if a process that was just stopped holds the lock. */
export async function wasCaughtWithLock(pid: number, place: Place): Promise<boolean> {
  await sleep(SURELY_STOPPED_MS);
  return holdsLock(pid, inodeOf(place));
}

const inodeOf = ({ url }: Place): number => statSync(`${url.slice("file:".length)}-shm`).ino;

export async function freezeHoldingLock(worker: Worker, place: Place): Promise<boolean> {
  const ino = inodeOf(place);
  for (const until = Date.now() + WITHIN_MS; Date.now() < until && worker.state === "busy"; await sleep(1)) {
    if (!holdsLock(worker.pid, ino)) continue;
    worker.signal("SIGSTOP");
    if (await wasCaughtWithLock(worker.pid, place)) return true;
    worker.signal("SIGCONT");
  }
  return false;
}

function holdsLock(pid: number, inode: number): boolean {
  return readFileSync("/proc/locks", "utf8")
    .split("\n")
    .some((line) => {
      const [, , , mode, owner, file, first, last] = line.trim().split(/\s+/);
      return (
        mode === "WRITE" &&
        Number(owner) === pid &&
        Number(file?.split(":").at(-1)) === inode &&
        Number(first) <= WRITE_LOCK &&
        (last === "EOF" || Number(last) >= WRITE_LOCK)
      );
    });
}
