/** Sessions, and the reports of their holders while they run. */
import type { EventKind } from "../../core/event.ts";
import { isProcessOfLocks } from "../../core/lock/request.ts";
import type { Claimed, NewSession } from "../store.ts";
import { NOTHING_SERVED } from "../store.ts";
import type { HeldRecord } from "./claim.ts";
import { claimedRow, current } from "./claim.ts";
import type { RunningRecord, SessionRecord, StoppingRecord, Tables } from "./tables.ts";

export function openSession(
  tables: Tables,
  now: number,
  { id, name, slots, serves, leaseMs }: NewSession,
): void {
  tables.session.insert({ id, name, slots, serves, expiresAt: now + leaseMs, startedAt: now, lost: false });
  // A process that only holds locks is no worker.
  if (isProcessOfLocks(name)) return;
  tables.feed.other({ kind: "WorkerStarted", subject: id, data: JSON.stringify({ name, slots }) });
}

export function closeSession(tables: Tables, id: string): void {
  const session = tables.session.get(id);
  tables.session.delete(id);
  if (session && !session.lost) tellWorker(tables, "WorkerStopped", session);
}

/** The loss of a session is published once, after its lease has expired. */
export function loseSessions(tables: Tables, now: number): void {
  for (const session of tables.session.all()) {
    if (session.lost || session.expiresAt > now) continue;
    tables.session.put({ ...session, lost: true });
    tellWorker(tables, "WorkerLost", session);
  }
}

const tellWorker = (
  tables: Tables,
  kind: "WorkerStopped" | "WorkerLost",
  { id, name }: SessionRecord,
): void => {
  if (!isProcessOfLocks(name)) tables.feed.other({ kind, subject: id, data: JSON.stringify({ name }) });
};

/** A session that has ended cannot be renewed: others may hold its claims by now. */
export function renewSession(tables: Tables, now: number, id: string, leaseMs: number): boolean {
  const session = tables.session.get(id);
  if (!session || session.expiresAt <= now) return false;
  tables.session.put({ ...session, expiresAt: now + leaseMs });
  return true;
}

export function retireSession(tables: Tables, id: string): void {
  const session = tables.session.get(id);
  if (session) tables.session.put({ ...session, serves: NOTHING_SERVED });
}

/** Renews claims whose own lease has not expired. An expired one stays lost. */
export function renewClaims(tables: Tables, now: number, session: string): number[] {
  const isLeased = (claim: RunningRecord | StoppingRecord): boolean =>
    claim.session === session && claim.leaseMs !== null && (claim.untilAt ?? 0) > now;
  const renewed = tables.running.all().filter(isLeased);
  const stopping = tables.stopping.all().filter(isLeased);
  for (const claim of stopping) tables.stopping.put({ ...claim, untilAt: now + (claim.leaseMs ?? 0) });
  for (const claim of renewed) {
    const n = claim.n + 1;
    tables.running.put({ ...claim, untilAt: now + (claim.leaseMs ?? 0), n });
    tables.event.insert({ subject: claim.id, n, kind: "StepSlotRenewed", at: now, data: null });
  }
  return [...renewed, ...stopping].map(({ epoch }) => epoch).sort((a, b) => a - b);
}

export function claimsOf(tables: Tables, session: string): Claimed[] {
  const claims = tables.running.all().filter((claim) => claim.session === session);
  return claims.map((claim) => claimedRow(tables, claim));
}

export function stale(tables: Tables, claims: readonly HeldRecord[]): string[] {
  return claims.filter((held) => !current(tables, held)).map(({ id }) => id);
}

export function progress(
  tables: Tables,
  entries: readonly (HeldRecord & { readonly value: string })[],
): void {
  for (const { value, ...held } of entries) {
    const claim = current(tables, held);
    if (claim) tables.running.put({ ...claim, progress: value });
  }
}

/** Adds lines of a task's log to its history, if its claim is current. */
export function note(
  tables: Tables,
  now: number,
  entries: readonly (HeldRecord & { readonly kind: EventKind; readonly data: string })[],
): void {
  for (const { id, epoch, kind, data } of entries) {
    const claim = current(tables, { id, epoch });
    if (!claim) continue;
    const n = claim.n + 1;
    tables.running.put({ ...claim, n });
    tables.event.insert({ subject: id, n, kind, at: now, data });
  }
}
