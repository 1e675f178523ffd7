/** The child processes of a process, according to the kernel. */
import { readdirSync, readFileSync } from "node:fs";

export function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8")
        .trim()
        .split(/\s+/)
        .filter(Boolean)
        .map(Number),
    );
  } catch {
    return [];
  }
}

const TICKS_PER_SECOND = 100;

/** The processor time that a process has used so far, in milliseconds. Undefined if it is gone. */
export function cpuMs(pid: number): number | undefined {
  try {
    // The name may contain spaces. The fields after its closing bracket do not.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND;
  } catch {
    return undefined;
  }
}

export function isAlive(pid: number): boolean {
  try {
    // A zombie has ended. Its parent just has not collected its exit status.
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** Signals a process that may already be gone. Returns false if it is. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
