// Other processes, as the system sees them.

import { readFileSync } from "node:fs";

/** The pids of those whom a process has started itself. */
export function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.trim().split(" ").filter(Boolean).map(Number);
}

export function isAlive(pid: number): boolean {
  try {
    // A zombie has ended, though nobody has looked at it yet.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** Ends it at once; who is gone already is gone. */
export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {}
}
