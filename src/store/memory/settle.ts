/** Where units go when they leave a claim or the line: an outcome, later, or back in line; each with its event. */
import type { FinalState, Finished, Recovery } from "../store.ts";
import { announce } from "./arrival.ts";
import type { RunningRecord, Tables, WaitingRecord } from "./tables.ts";

export interface Exit {
  readonly claim: RunningRecord;
  readonly to: Finished["to"] | Recovery["to"];
  readonly body: string | null;
  readonly delayMs: number;
  readonly attempt: number;
  readonly losses: number;
  readonly event: string;
}

const REPORTED: Readonly<Record<Finished["to"], string>> = {
  succeeded: "TaskSucceeded",
  failed: "TaskFailed",
  retry: "TaskRetried",
  returned: "TaskReturned",
};

const LOST: Readonly<Record<Recovery["to"], string>> = {
  waiting: "TaskReturned",
  retry: "TaskLost",
  failed: "TaskFailed",
  quarantined: "TaskQuarantined",
  expired: "TaskExpired",
};

export function exitOf(claim: RunningRecord, { to, body, delayMs }: Finished): Exit {
  const attempt = to === "returned" ? claim.attempt - 1 : claim.attempt;
  return { claim, to, body, delayMs, attempt, losses: claim.losses, event: REPORTED[to] };
}

export function exitOfLost(claim: RunningRecord, { to, body, attempt, losses }: Recovery): Exit {
  return { claim, to, body, delayMs: 0, attempt, losses, event: LOST[to] };
}

export function settle(tables: Tables, now: number, exits: readonly Exit[]): void {
  for (const exit of exits) leave(tables, now, exit);
  announce(
    tables,
    exits.flatMap(({ claim }) => (tables.waiting.has(claim.id) ? [claim.id] : [])),
  );
}

function leave(tables: Tables, now: number, exit: Exit): void {
  const { claim, to, body, delayMs, attempt, losses } = exit;
  const { id, lane, precedence, at, goodUntil } = claim;
  const n = claim.n + 1;
  const life: WaitingRecord = { id, lane, precedence, at, attempt, losses, goodUntil, n };
  if (to === "returned" || to === "waiting") tables.waiting.insert(life);
  else if (to !== "retry") finish(tables, now, { ...claim, attempt, losses }, to, body);
  else if (delayMs > 0) tables.later.insert({ ...life, at: now + delayMs, because: "retry" });
  // One that is tried again goes behind those who came in the meantime.
  else tables.waiting.insert({ ...life, at: now });
  tables.event.insert({ subject: id, n, kind: exit.event, at: now, data: dataOf(exit) });
}

/** A result is kept once, in the outcome; an error is part of the history of every attempt. */
function dataOf({ to, body, delayMs }: Exit): string | null {
  if (to === "succeeded") return null;
  if (to !== "retry") return body;
  return JSON.stringify({ delayMs, error: body === null ? null : JSON.parse(body) });
}

type Ending = WaitingRecord & { readonly epoch?: number };

/** The outcome alone; its event is the caller's. */
export function finish(
  tables: Tables,
  now: number,
  unit: Ending,
  state: FinalState,
  body: string | null,
): void {
  const { id, epoch = null, attempt, losses, n } = unit;
  tables.outcome.insert({ id, state, epoch, attempt, losses, body, finishedAt: now, n: n + 1 });
}

/** Their time is over before they started. */
export function expire(tables: Tables, now: number, units: readonly WaitingRecord[]): void {
  for (const { id, lane, precedence, at, attempt, losses, goodUntil, n } of units) {
    finish(tables, now, { id, lane, precedence, at, attempt, losses, goodUntil, n }, "expired", null);
    tables.event.insert({ subject: id, n: n + 1, kind: "TaskExpired", at: now, data: null });
  }
}
