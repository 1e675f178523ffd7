// One at a time, of several processes.

import { mkdirSync, rmSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Longer than anything takes that is done under a lock: whoever left it there is gone. */
const STALE_MS = 120_000;

/** Does it while nobody else does anything under the same lock: a folder that is there as long as somebody has it. */
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
