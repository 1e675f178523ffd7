// Other processes, as the kernel reports them.

import { readFileSync } from "node:fs";

/** The pids of a process's own children. */
export function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.trim().split(" ").filter(Boolean).map(Number);
}

export function isAlive(pid: number): boolean {
  try {
    // A zombie has ended, although its parent has not collected its exit status yet.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** Kills a process at once. It may already be gone. */
export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {}
}
