/** Sessions: one row per incarnation of a process, renewed by its owner, judged by the store's own clock. */
import type { Flow, Row } from "../flow.ts";
import { flight, lastFlight } from "../flow.ts";
import type { Sql } from "../sql.ts";
import { forUpdate, forUpdateSkipLocked, leaseNow, now, oneOf, rows, sql, throughKey } from "../sql.ts";
import type { Claimed, NewSession } from "../store.ts";
import type { Held } from "./claim.ts";
import { among, selectClaimsOf } from "./claim.ts";
import { insertEvents } from "./event.ts";
import { inEpochs } from "./pass.ts";
import { lockLeasedStopping, renewStopping } from "./stopping.ts";
import { tellEvents } from "./tell.ts";
import { tellOthers } from "./tell-others.ts";

export function* openSession({ id, name, slots, serves, leaseMs }: NewSession): Flow<void> {
  const list = rows("s", { id: "text", name: "text", slots: "int", serves: "text", lease: "int" }, [
    { id, name, slots, serves, lease: leaseMs },
  ]);
  yield* lastFlight(
    sql`INSERT INTO sluice_session (id, name, slots, serves, expires_at, started_at) SELECT s.id, s.name, s.slots, s.serves, ${leaseNow} + s.lease, ${now} FROM ${list}`,
    ...tellOthers([{ kind: "WorkerStarted", subject: id, data: JSON.stringify({ name, slots }) }]),
  );
}

/** A session that has ended stays ended: others may hold its claims by now. */
export function* renewSession(id: string, leaseMs: number): Flow<boolean> {
  const [alive = []] = yield* flight(
    sql`SELECT id FROM sluice_session WHERE id = ${id} AND expires_at > ${leaseNow}${forUpdate}`,
  );
  if (alive.length === 0) return false;
  yield* lastFlight(sql`UPDATE sluice_session SET expires_at = ${leaseNow} + ${leaseMs} WHERE id = ${id}`);
  return true;
}

export function* closeSession(id: string): Flow<void> {
  const [found = []] = yield* flight(
    sql`SELECT id, name, lost FROM sluice_session WHERE id = ${id}${forUpdate}`,
  );
  const live = found.filter((row) => Number(row.lost) === 0);
  yield* lastFlight(
    sql`DELETE FROM sluice_session WHERE id = ${id}`,
    ...tellOthers(live.map((row) => workerChange("WorkerStopped", row))),
  );
}

const workerChange = (kind: string, row: Row) => ({
  kind,
  subject: row.id as string,
  data: JSON.stringify({ name: row.name }),
});

/** Sessions whose lease has run out, while nobody has told of it yet. */
export const selectLostSessions = (): Sql =>
  sql`SELECT id, name FROM sluice_session WHERE ${throughKey("id")} AND lost = 0 AND expires_at <= ${leaseNow} ORDER BY id LIMIT 100${forUpdateSkipLocked}`;

export const tellLostSessions = (lost: readonly Row[]): Sql[] =>
  lost.length === 0
    ? []
    : [
        sql`UPDATE sluice_session SET lost = 1 WHERE id ${oneOf(lost.map((row) => row.id as string))}`,
        ...tellOthers(lost.map((row) => workerChange("WorkerLost", row))),
      ];

export function* claimsOf(session: string): Flow<Claimed[]> {
  const [found = []] = yield* flight(selectClaimsOf(session));
  return inEpochs(found);
}

/** One that has run out is lost, even if nobody has taken it away yet. Each renewal is part of the history. */
export function* renewClaims(session: string): Flow<number[]> {
  const [found = [], stopping = []] = yield* flight(
    sql`SELECT epoch, id, n FROM sluice_running WHERE session = ${session} AND lease_ms IS NOT NULL AND until_at > ${leaseNow} ORDER BY id${forUpdate}`,
    lockLeasedStopping(session),
  );
  const held = found.map((row) => ({ id: row.id as string, epoch: Number(row.epoch), n: Number(row.n) + 1 }));
  const kept = stopping.map((row) => Number(row.epoch));
  if (held.length + kept.length === 0) return [];
  const events = held.map(({ id, n }) => ({ subject: id, n, kind: "StepSlotRenewed", data: null }));
  yield* lastFlight(
    ...(kept.length > 0 ? [renewStopping(kept)] : []),
    ...(held.length > 0
      ? [
          sql`UPDATE sluice_running SET until_at = ${leaseNow} + lease_ms, n = n + 1 WHERE ${among(held)}`,
          insertEvents(events),
          ...tellEvents(events),
        ]
      : []),
  );
  return [...held.map(({ epoch }) => epoch), ...kept].sort((a, b) => a - b);
}

export function* stale(claims: readonly Held[]): Flow<string[]> {
  const [found = []] = yield* flight(selectEpochs(claims));
  const alive = new Set(found.map((row) => Number(row.epoch)));
  return claims.filter(({ epoch }) => !alive.has(epoch)).map(({ id }) => id);
}

const selectEpochs = (claims: readonly Held[]): Sql =>
  sql`SELECT epoch, id, n FROM sluice_running WHERE ${among(claims)}`;

export function* progress(entries: readonly (Held & { value: string })[]): Flow<void> {
  yield* lastFlight(
    ...entries.map(
      ({ id, epoch, value }) =>
        sql`UPDATE sluice_running SET progress = ${value} WHERE id = ${id} AND epoch = ${epoch}`,
    ),
  );
}

/** Lines of a task's own log join its history, while its claim is current. */
export function* note(entries: readonly (Held & { kind: string; data: string })[]): Flow<void> {
  const [found = []] = yield* flight(sql`${selectEpochs(entries)} ORDER BY id${forUpdate}`);
  const next = new Map(found.map((row) => [Number(row.epoch), Number(row.n)]));
  const events = entries.flatMap(({ id, epoch, kind, data }) => {
    const n = next.get(epoch);
    if (n === undefined) return [];
    next.set(epoch, n + 1);
    return [{ subject: id, n: n + 1, kind, data }];
  });
  if (events.length === 0) return;
  yield* lastFlight(
    insertEvents(events),
    ...tellEvents(events),
    ...found.map(
      (row) =>
        sql`UPDATE sluice_running SET n = ${next.get(Number(row.epoch))} WHERE id = ${row.id} AND epoch = ${row.epoch}`,
    ),
  );
}
