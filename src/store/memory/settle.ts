/** Moves units out of a claim or the line: to an outcome, to later, or back in line, each with its event. */
import type { EventKind } from "../../core/event.ts";
import type { Ended, FinalState, Finished, Recovery, Stopped } from "../store.ts";
import { announce } from "./arrival.ts";
import { current } from "./claim.ts";
import { leaveNewsOf } from "./news.ts";
import { keepStopping } from "./stopping.ts";
import type { RunningRecord, Tables, WaitingRecord } from "./tables.ts";
import { eventKey } from "./tables.ts";

/** How a claim ends. */
interface Exit {
  readonly id: string;
  readonly epoch: number;
  readonly to: "outcome" | "later" | "again" | "back" | "gone";
  readonly state: Ended["to"] | Recovery["to"];
  /** Null if it leaves no history. */
  readonly event: EventKind | null;
  readonly body: string | null;
  readonly data: string | null;
  readonly delayMs: number;
  /** Gives the attempt back, because it never began. */
  readonly unburnt: boolean;
  readonly lost: boolean;
  /** Its code still runs and keeps its slots. */
  readonly stopping: boolean;
}

const REPORTED = {
  succeeded: { to: "outcome", event: "TaskSucceeded" },
  failed: { to: "outcome", event: "TaskFailed" },
  retry: { to: "later", event: "TaskRetried" },
  returned: { to: "back", event: "TaskReturned" },
  gone: { to: "gone", event: null },
} as const;

const LOST = {
  waiting: { to: "back", event: "TaskReturned" },
  retry: { to: "again", event: "TaskLost" },
  failed: { to: "outcome", event: "TaskFailed" },
  quarantined: { to: "outcome", event: "TaskQuarantined" },
  expired: { to: "outcome", event: "TaskExpired" },
  gone: { to: "gone", event: null },
} as const;

export function exitOf(finished: Exclude<Finished, Stopped>): Exit {
  return "revoked" in finished ? exitOfLost(finished) : exitOfEnded(finished);
}

function exitOfEnded({ id, epoch, to: state, body, delayMs, stopping }: Ended): Exit {
  const { to, event } = REPORTED[state];
  const unburnt = state === "returned";
  const rest = { id, epoch, state, event, body, delayMs, unburnt, lost: false, stopping: stopping === true };
  // A result is stored once, in the outcome. An error is part of the history of every attempt.
  if (state !== "retry") return { ...rest, to, data: state === "succeeded" ? null : body };
  const data = `{"delayMs":${delayMs},"error":${body ?? "null"}}`;
  return { ...rest, to: delayMs === 0 ? "again" : to, data };
}

/** A claim that never began has neither used an attempt nor lost anything. */
export function exitOfLost({ id, epoch, to: state, body }: Recovery): Exit {
  const unburnt = state === "waiting";
  const way = { ...LOST[state], state, body, data: body, delayMs: 0 };
  return { id, epoch, ...way, unburnt, lost: !unburnt, stopping: false };
}

/**
 * Ends claims that still exist with this epoch, and returns their epochs. The others are stale and change
 * nothing.
 */
export function settle(tables: Tables, now: number, exits: readonly Exit[]): ReadonlySet<number> {
  const settled = new Set<number>();
  for (const way of ["gone", "outcome", "later", "again", "back"] as const) {
    for (const exit of exits) {
      const claim = exit.to === way ? current(tables, exit) : undefined;
      if (!claim) continue;
      leave(tables, now, claim, exit);
      settled.add(exit.epoch);
      if (way === "again" || way === "back") announce(tables, [exit.id]);
    }
  }
  return settled;
}

function leave(tables: Tables, now: number, claim: RunningRecord, exit: Exit): void {
  const { id, lane, precedence, at, goodUntil, epoch } = claim;
  const n = claim.n + 1;
  const attempt = claim.attempt - Number(exit.unburnt);
  const losses = claim.losses + Number(exit.lost);
  const life: WaitingRecord = { id, lane, precedence, at, attempt, losses, goodUntil, n };
  if (exit.stopping) keepStopping(tables, now, claim, "timeout");
  tables.running.delete(epoch);
  if (exit.event === null) {
    leaveNoTrace(tables, id);
    return;
  }
  tables.event.insert({ subject: id, n, kind: exit.event, at: now, data: exit.data });
  if (exit.to === "outcome") finish(tables, now, { ...claim, losses }, exit.state as FinalState, exit.body);
  else if (exit.to === "later") tables.later.insert({ ...life, at: now + exit.delayMs, because: "retry" });
  // A unit that is tried again goes behind those that came in the meantime. An item of a list keeps its
  // place.
  else tables.waiting.insert(exit.to === "again" && !isItem(tables, id) ? { ...life, at: now } : life);
}

/** A request for a lock is over: its body and its history go with its claim. */
export function leaveNoTrace(tables: Tables, id: string): void {
  tables.task.delete(id);
  for (const { n } of tables.event.of(id)) tables.event.delete(eventKey(id, n));
}

const isItem = (tables: Tables, id: string): boolean => (tables.task.get(id)?.item ?? null) !== null;

export type MemoryEnding = WaitingRecord & Partial<RunningRecord>;

/** Writes an outcome, with the last claim if the unit ended in one. The caller writes the event. */
export function finish(
  tables: Tables,
  now: number,
  unit: MemoryEnding,
  state: FinalState,
  body: string | null,
): void {
  const { id, attempt, losses, n, epoch = null, session = null, claimedAt = null, claimedN = null } = unit;
  const claim = { epoch, session, claimedAt, claimedN };
  tables.outcome.insert({ id, state, attempt, losses, body, ...claim, finishedAt: now, n: n + 1 });
}

/** These units expired before they started. If they are steps, their runs get news. */
export function expire(tables: Tables, now: number, units: readonly MemoryEnding[]): void {
  leaveNewsOf(
    tables,
    units.map(({ id }) => id),
  );
  for (const unit of units) {
    finish(tables, now, unit, "expired", null);
    tables.event.insert({ subject: unit.id, n: unit.n + 1, kind: "TaskExpired", at: now, data: null });
  }
}
