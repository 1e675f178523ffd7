/**
 * When a unit stood in line. Its place does not tell: a unit that was given back keeps its place, and so does an item that is
 * tried again, although both were at work or put off in the meantime. Their history tells.
 */

import type { EventKind } from "../core/event.ts";

/** One time in line. `until` is null while it stands there. */
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

/** Every time in line, in order. `moves` is the history of a unit that was enqueued at that time. */
export function staysOf(enqueuedAt: number, moves: readonly Move[]): Stay[] {
  const stays: Stay[] = [];
  let from: number | null = enqueuedAt;
  for (const { kind, at, data } of moves) {
    if (BACK.has(kind)) from = at + delayIn(data);
    else if (AWAY.has(kind)) {
      // What ends before its delay is over never stood in line.
      if (from !== null && at >= from) stays.push({ from, until: at });
      from = null;
    }
  }
  return from === null ? stays : [...stays, { from, until: null }];
}

/** Since when a unit stands in line that has this place and this history. */
export function inLineSince(place: number, moves: readonly Move[]): number {
  const back = moves.findLast(({ kind }) => BACK.has(kind));
  return back ? Math.max(place, back.at + delayIn(back.data)) : place;
}

/** What somebody damaged tells of no delay. */
function delayIn(data: string | null): number {
  try {
    const delay: unknown = JSON.parse(data ?? "{}")?.delayMs;
    return typeof delay === "number" ? delay : 0;
  } catch {
    return 0;
  }
}
