// A lock between processes.

import { mkdirSync, rmSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Longer than any work under a lock takes, so an older lock was left behind by a process that is gone. */
const STALE_MS = 120_000;

/**
 * Does the work while no other process holds the same lock. The lock is a folder that exists while it is
 * held.
 */
export async function locked(lock: string, work: () => Promise<void>): Promise<void> {
  while (!take(lock)) await sleep(50);
  try {
    await work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function take(lock: string): boolean {
  const left = statSync(lock, { throwIfNoEntry: false });
  if (left && Date.now() - left.mtimeMs > STALE_MS) rmSync(lock, { recursive: true, force: true });
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}
