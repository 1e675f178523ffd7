/** Timers: waits and runs that take too long. */
import type { RunPort, Timer } from "../store.ts";
import type { Tables } from "./tables.ts";
import { pairKey } from "./tables.ts";

const AT_ONCE = 200;

export function timers(tables: Tables, now: number): Awaited<ReturnType<RunPort["timers"]>> {
  const inOrder = tables.timer.all().sort((a, b) => a.at - b.at);
  const due = inOrder.filter(({ at }) => at <= now);
  return { due: due.slice(0, AT_ONCE), nextAt: inOrder[due.length]?.at ?? null, now };
}

/** Resets only the timer that was seen: it may be gone by now, or set again by another process. */
export function resetTimer(tables: Tables, now: number, seen: Timer, afterMs: number | null): void {
  const { id, kind, at } = seen;
  const key = pairKey(id, kind);
  if (tables.timer.get(key)?.at !== at) return;
  if (afterMs === null) tables.timer.delete(key);
  else tables.timer.put({ id, kind, at: now + afterMs });
}

/** A unit that has ended waits for nothing. */
export function forgetTimers(tables: Tables, id: string): void {
  for (const { kind } of tables.timer.of(id)) tables.timer.delete(pairKey(id, kind));
}
