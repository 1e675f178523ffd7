// Processor time of other processes, as Linux counts it in /proc. Other systems have no such files, and then
// every answer is null.

import { readFileSync } from "node:fs";
import { childrenOf } from "../test/support/processes.ts";

/** Linux reports processor time in hundredths of a second, whatever its own clock. */
const MS_PER_TICK = 10;

interface Stat {
  readonly parent: number;
  /** Of the process itself, all its threads included. */
  readonly ownMs: number;
  /** Of its children that have ended. */
  readonly endedMs: number;
}

export function processorMs(pid: number): number | null {
  return stat(pid)?.ownMs ?? null;
}

/**
 * The time of a process and all its children, including those that have ended. A server that gives each
 * connection its own process is counted whole.
 */
export function familyMs(pid: number): number | null {
  const head = stat(pid);
  if (!head) return null;
  const children = childrenOf(pid).flatMap((each) => stat(each) ?? []);
  return [head, ...children].reduce((sum, { ownMs, endedMs }) => sum + ownMs + endedMs, 0);
}

export function parentOf(pid: number): number | null {
  return stat(pid)?.parent ?? null;
}

function stat(pid: number): Stat | undefined {
  let line: string;
  try {
    line = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  // The second field is the program's name in parentheses, which may contain spaces and parentheses.
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const ticks = (index: number): number => Number(fields[index]) * MS_PER_TICK;
  return { parent: Number(fields[1]), ownMs: ticks(11) + ticks(12), endedMs: ticks(13) + ticks(14) };
}
