/**
 * Computes from the history of a unit when it stood in line. Its place is not enough: a returned unit or a
 * retried item keeps its place, although it was running or delayed in the meantime.
 */

import type { EventKind } from "../core/event.ts";

/** One stay in line. `until` is null while the unit is still in line. */
export interface Stay {
  readonly from: number;
  readonly until: number | null;
}

export interface Move {
  readonly kind: EventKind;
  readonly at: number;
  readonly data: string | null;
}

/** Events that put a unit back in line, some of them after a delay. */
const BACK: ReadonlySet<EventKind> = new Set(["TaskRetried", "TaskReturned", "TaskLost"]);

/** Events that take a unit out of the line. */
const AWAY: ReadonlySet<EventKind> = new Set([
  "TaskClaimed",
  "TaskSucceeded",
  "TaskFailed",
  "TaskCancelled",
  "TaskExpired",
  "TaskQuarantined",
]);

export const MOVES: readonly EventKind[] = [...BACK, ...AWAY];

/** Every stay in line, in order. `moves` is the history of a unit enqueued at `enqueuedAt`. */
export function staysOf(enqueuedAt: number, moves: readonly Move[]): Stay[] {
  const stays: Stay[] = [];
  let from: number | null = enqueuedAt;
  for (const { kind, at, data } of moves) {
    if (BACK.has(kind)) from = at + delayIn(data);
    else if (AWAY.has(kind)) {
      // A unit that ends before its delay is over never stood in line.
      if (from !== null && at >= from) stays.push({ from, until: at });
      from = null;
    }
  }
  return from === null ? stays : [...stays, { from, until: null }];
}

/** The time since which a unit with this place and history has been in line. */
export function inLineSince(place: number, moves: readonly Move[]): number {
  const back = moves.findLast(({ kind }) => BACK.has(kind));
  return back ? Math.max(place, back.at + delayIn(back.data)) : place;
}

/** Damaged data counts as no delay. */
function delayIn(data: string | null): number {
  try {
    const delay: unknown = JSON.parse(data ?? "{}")?.delayMs;
    return typeof delay === "number" ? delay : 0;
  } catch {
    return 0;
  }
}
