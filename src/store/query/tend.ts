/** Handles the passing of time: delayed units come due, deadlines pass, ended sessions are deleted. */
import type { Flow } from "../flow.ts";
import { commit, flight, send } from "../flow.ts";
import type { LaneSpec } from "../lane.ts";
import { idOf, intOrNull, only, text } from "../row.ts";
import type { Dialect, Sql } from "../sql.ts";
import { by, forUpdateSkipLocked, leaseNow, now, oneOf, sql, throughKey } from "../sql.ts";
import type { Tended } from "../store.ts";
import { insertArrivalsOf } from "./arrival.ts";
import { expireAnywhere } from "./expire.ts";
import { selectOld, sweep } from "./feed-sweep.ts";
import { selectNow } from "./look.ts";
import { selectLostSessions, tellLostSessions } from "./session.ts";
import { deleteSignals, selectOldSignals } from "./signal-sweep.ts";

const BATCH = sql`500`;

export function* tend(parkedAfter: string, dialect: Dialect): Flow<Tended> {
  const { clock, due, over, next, parkedOn, lost, signals, ...old } = yield* flight({
    clock: selectNow(),
    due: sql`SELECT id FROM sluice_later WHERE at <= ${now} AND NOT EXISTS (SELECT 1 FROM sluice_aside a WHERE a.lane = sluice_later.lane) ORDER BY at LIMIT ${BATCH}${forUpdateSkipLocked}`.as(
      idOf,
    ),
    over: sql`SELECT id FROM sluice_deadline WHERE at <= ${now} ORDER BY at LIMIT ${BATCH}${forUpdateSkipLocked}`.as(
      idOf,
    ),
    next: sql`SELECT MIN(at) AS at FROM sluice_later WHERE at > ${now}`.as(({ at }) => intOrNull(at)),
    parkedOn: selectParkedOn(parkedAfter),
    lost: selectLostSessions(),
    signals: selectOldSignals(),
    ...selectOld,
  });
  yield* commit([
    due.length > 0 && promote(due),
    over.length > 0 && [expireAnywhere(over, { dialect, quiet: false }), moveDeadlines(over)],
    lost.length > 0 && tellLostSessions(lost),
    deleteEndedSessions(),
    deleteSignals(signals),
    sweep(old),
  ]);
  return {
    now: only(clock),
    promoted: due.length,
    expired: over.length,
    nextDueAt: only(next),
    parkedOn,
  };
}

/**
 * Gates with parked lanes. The query steps through the index from one gate to the next, so a gate costs the
 * same however many lanes are parked there. MariaDB finds that plan by itself.
 */
const selectParkedOn = (after: string): Sql<string> => {
  const steps = sql`SELECT parked FROM (WITH RECURSIVE g (parked, n) AS (
      SELECT (SELECT l.parked FROM sluice_lane l WHERE l.parked > ${after} ORDER BY l.parked LIMIT 1), 1
      UNION ALL SELECT (SELECT l.parked FROM sluice_lane l WHERE l.parked > g.parked ORDER BY l.parked LIMIT 1), g.n + 1
      FROM g WHERE g.parked IS NOT NULL AND g.n < 200
    ) SELECT parked FROM g WHERE parked IS NOT NULL) AS named ORDER BY parked`;
  return by({
    postgres: steps,
    sqlite: steps,
    mysql: sql`SELECT DISTINCT parked FROM sluice_lane WHERE parked > ${after} ORDER BY parked LIMIT 200`,
  }).as(({ parked }) => text(parked));
};

interface Due {
  readonly unit: string;
  readonly lane: LaneSpec;
}

/** Due units with their lanes, and units whose deadline has passed. */
export const selectDue = (): Flow<{ readonly due: readonly Due[]; readonly over: readonly string[] }> =>
  flight({
    due: sql`SELECT d.id, d.lane, t.queue, t.name, t.asks FROM sluice_later d JOIN sluice_task t ON t.id = d.id
      WHERE d.at <= ${now} AND NOT EXISTS (SELECT 1 FROM sluice_aside a WHERE a.lane = d.lane) ORDER BY d.at LIMIT ${BATCH}`.as(
      (row) => ({
        unit: text(row.id),
        lane: { id: text(row.lane), queue: text(row.queue), task: text(row.name), asks: text(row.asks) },
      }),
    ),
    over: sql`SELECT id FROM sluice_deadline WHERE at <= ${now} ORDER BY at LIMIT ${BATCH}`.as(idOf),
  });

export function* promoteOnly(ids: readonly string[]): Flow<void> {
  const held = yield* send(
    sql`SELECT id FROM sluice_later WHERE id ${oneOf(ids)} AND at <= ${now}${forUpdateSkipLocked}`.as(idOf),
  );
  if (held.length > 0) yield* commit(promote(held));
}

export function* expireOnly(ids: readonly string[], dialect: Dialect): Flow<void> {
  yield* commit([expireAnywhere(ids, { dialect, quiet: false }), moveDeadlines(ids)]);
}

/** This deadline cannot be enforced now. It is tried again in an hour and does not block others in the meantime. */
export function* putOff(id: string): Flow<void> {
  yield* commit(sql`UPDATE sluice_deadline SET at = ${now} + 3600000 WHERE id = ${id}`);
}

/**
 * A delayed unit is in line since it came due, not since it was enqueued. An item of a list goes back to its
 * place.
 */
function promote(ids: readonly string[]): Sql[] {
  return [
    sql`INSERT INTO sluice_waiting (id, lane, precedence, at, attempt, losses, good_until, n)
      SELECT l.id, l.lane, l.precedence, CASE WHEN t.item IS NULL THEN l.at ELSE t.created_at END, l.attempt, l.losses, l.good_until, l.n
      FROM sluice_later l LEFT JOIN sluice_task t ON t.id = l.id WHERE l.id ${oneOf(ids)}`,
    insertArrivalsOf(ids),
    sql`DELETE FROM sluice_later WHERE id ${oneOf(ids)}`,
  ];
}

/** A running unit has met its deadline but may come back in line, so the deadline is checked again later. */
const moveDeadlines = (ids: readonly string[]): Sql[] => [
  sql`DELETE FROM sluice_deadline WHERE id ${oneOf(ids)} AND NOT EXISTS (SELECT 1 FROM sluice_running r WHERE r.id = sluice_deadline.id)`,
  sql`UPDATE sluice_deadline SET at = ${now} + 60000 WHERE id ${oneOf(ids)}`,
];

/**
 * Sessions are deleted long after their end, and only when recovery has no claims left to find through them.
 */
const deleteEndedSessions = (): Sql =>
  sql`DELETE FROM sluice_session WHERE ${throughKey("id")} AND expires_at < ${leaseNow} - 3600000
    AND NOT EXISTS (SELECT 1 FROM sluice_running r WHERE ${throughKey("r.id")} AND r.session = sluice_session.id)
    AND NOT EXISTS (SELECT 1 FROM sluice_stopping r WHERE ${throughKey("r.id")} AND r.session = sluice_session.id)`;
