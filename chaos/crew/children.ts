/** The processes that a process has started, as the kernel knows them. */
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

/** Processor time that a process has used so far, in milliseconds; undefined when it is gone. */
export function cpuMs(pid: number): number | undefined {
  try {
    // The name may hold spaces; what follows its closing bracket does not.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND;
  } catch {
    return undefined;
  }
}

export function isAlive(pid: number): boolean {
  try {
    // A zombie has ended: only nobody has asked how.
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** A signal for a process that may be gone by now. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
