/** Sessions: one row per life of a process, renewed by its owner and judged by the store's own clock. */
import type { EventKind } from "../../core/event.ts";
import { isProcessOfLocks } from "../../core/lock/request.ts";
import type { Flow } from "../flow.ts";
import { commit, flight, send } from "../flow.ts";
import type { Row } from "../row.ts";
import { flag, idOf, int, text } from "../row.ts";
import type { Sql } from "../sql.ts";
import { forUpdate, forUpdateSkipLocked, leaseNow, now, oneOf, rows, sql, throughKey } from "../sql.ts";
import type { Claimed, NewSession } from "../store.ts";
import { NOTHING_SERVED } from "../store.ts";
import type { HeldRow } from "./claim.ts";
import { among, byEpoch, selectClaimsOf } from "./claim.ts";
import type { NewEvent } from "./event.ts";
import { insertEvents } from "./event.ts";
import { lockLeasedStopping, renewStopping } from "./stopping.ts";
import { tellEvents } from "./tell.ts";
import { tellOthers } from "./tell-others.ts";

export function* openSession({ id, name, slots, serves, leaseMs }: NewSession): Flow<void> {
  const list = rows("s", { id: "text", name: "text", slots: "int", serves: "text", lease: "int" }, [
    { id, name, slots, serves, lease: leaseMs },
  ]);
  yield* commit([
    sql`INSERT INTO sluice_session (id, name, slots, serves, expires_at, started_at) SELECT s.id, s.name, s.slots, s.serves, ${leaseNow} + s.lease, ${now} FROM ${list}`,
    !isProcessOfLocks(name) &&
      tellOthers([{ kind: "WorkerStarted", subject: id, data: JSON.stringify({ name, slots }) }]),
  ]);
}

/** A session that has ended stays ended: other workers may hold its units by now. */
export function* renewSession(id: string, leaseMs: number): Flow<boolean> {
  const alive = yield* send(
    sql`SELECT id FROM sluice_session WHERE id = ${id} AND expires_at > ${leaseNow}${forUpdate}`.as(idOf),
  );
  if (alive.length === 0) return false;
  yield* commit(sql`UPDATE sluice_session SET expires_at = ${leaseNow} + ${leaseMs} WHERE id = ${id}`);
  return true;
}

export function* retireSession(id: string): Flow<void> {
  yield* commit(sql`UPDATE sluice_session SET serves = ${NOTHING_SERVED} WHERE id = ${id}`);
}

export function* closeSession(id: string): Flow<void> {
  const found = yield* send(
    sql`SELECT id, name, lost FROM sluice_session WHERE id = ${id}${forUpdate}`.as((row) => ({
      ...workerRow(row),
      lost: flag(row.lost),
    })),
  );
  yield* commit([
    sql`DELETE FROM sluice_session WHERE id = ${id}`,
    tellOthers(found.filter(isNews).map((worker) => workerChange("WorkerStopped", worker))),
  ]);
}

interface Worker {
  readonly id: string;
  readonly name: string;
}

/** The loss of a worker is told once. A process that only holds locks is no worker. */
const isNews = ({ name, lost = false }: Worker & { readonly lost?: boolean }): boolean =>
  !lost && !isProcessOfLocks(name);

const workerRow = (row: Row): Worker => ({ id: text(row.id), name: text(row.name) });

const workerChange = (kind: "WorkerStopped" | "WorkerLost", { id, name }: Worker) => ({
  kind,
  subject: id,
  data: JSON.stringify({ name }),
});

/** Sessions whose lease has run out and whose loss has not been reported yet. */
export const selectLostSessions = (): Sql<Worker> =>
  sql`SELECT id, name FROM sluice_session WHERE ${throughKey("id")} AND lost = 0 AND expires_at <= ${leaseNow} ORDER BY id LIMIT 100${forUpdateSkipLocked}`.as(
    workerRow,
  );

export const tellLostSessions = (lost: readonly Worker[]): Sql[] => [
  sql`UPDATE sluice_session SET lost = 1 WHERE id ${oneOf(lost.map(({ id }) => id))}`,
  ...tellOthers(lost.filter(isNews).map((worker) => workerChange("WorkerLost", worker))),
];

export function* claimsOf(session: string): Flow<Claimed[]> {
  const found = yield* send(selectClaimsOf(session));
  return found.sort(byEpoch);
}

/**
 * A claim whose lease has run out is lost, even if no pass has taken it away yet. Each renewal is part of the
 * history.
 */
export function* renewClaims(session: string): Flow<number[]> {
  const { held, kept } = yield* flight({
    held: sql`SELECT epoch, id, n FROM sluice_running WHERE session = ${session} AND lease_ms IS NOT NULL AND until_at > ${leaseNow} ORDER BY id${forUpdate}`.as(
      numbered,
    ),
    kept: lockLeasedStopping(session),
  });
  if (held.length + kept.length === 0) return [];
  const events = held.map(({ id, n }): NewEvent => {
    return { subject: id, n: n + 1, kind: "StepSlotRenewed", data: null };
  });
  yield* commit([
    kept.length > 0 && renewStopping(kept),
    held.length > 0 && [
      sql`UPDATE sluice_running SET until_at = ${leaseNow} + lease_ms, n = n + 1 WHERE ${among(held)}`,
      insertEvents(events),
      tellEvents(events),
    ],
  ]);
  return [...held.map(({ epoch }) => epoch), ...kept].sort((a, b) => a - b);
}

export function* stale(claims: readonly HeldRow[]): Flow<string[]> {
  const found = yield* send(selectEpochs(claims).as(numbered));
  const alive = new Set(found.map(({ epoch }) => epoch));
  return claims.filter(({ epoch }) => !alive.has(epoch)).map(({ id }) => id);
}

/** A claim, and the number of its unit's last event. */
interface Numbered extends HeldRow {
  readonly n: number;
}

const numbered = (row: Row): Numbered => ({ id: text(row.id), epoch: int(row.epoch), n: int(row.n) });

const selectEpochs = (claims: readonly HeldRow[]): Sql =>
  sql`SELECT epoch, id, n FROM sluice_running WHERE ${among(claims)}`;

export function* progress(entries: readonly (HeldRow & { value: string })[]): Flow<void> {
  yield* commit(
    entries.map(
      ({ id, epoch, value }) =>
        sql`UPDATE sluice_running SET progress = ${value} WHERE id = ${id} AND epoch = ${epoch}`,
    ),
  );
}

/** Lines of a task's own log join its history while its claim is current. */
export function* note(entries: readonly (HeldRow & { kind: EventKind; data: string })[]): Flow<void> {
  const found = yield* send(sql`${selectEpochs(entries)} ORDER BY id${forUpdate}`.as(numbered));
  const next = new Map(found.map(({ epoch, n }) => [epoch, n]));
  const events = entries.flatMap(({ id, epoch, kind, data }) => {
    const n = next.get(epoch);
    if (n === undefined) return [];
    next.set(epoch, n + 1);
    return [{ subject: id, n: n + 1, kind, data }];
  });
  if (events.length === 0) return;
  yield* commit([
    insertEvents(events),
    tellEvents(events),
    found.map(
      ({ id, epoch }) =>
        sql`UPDATE sluice_running SET n = ${next.get(epoch)} WHERE id = ${id} AND epoch = ${epoch}`,
    ),
  ]);
}
