/**
 * Turns waiting units into claims. The delete of the waiting row decides: a pass that finds the row gone has
 * lost the race.
 */
import type { Row } from "../row.ts";
import { flag, idOf, int, intOrNull, text } from "../row.ts";
import type { Dialect, Sql } from "../sql.ts";
import { by, forUpdate, leaseNow, now, oneOf, raw, sql } from "../sql.ts";
import type { Claimed } from "../store.ts";

interface Claim {
  readonly ids: readonly string[];
  readonly session: string;
  readonly held: boolean;
  /** How long the claim may wait to be started. */
  readonly leaseMs: number;
  /** The claim's own lease. It must be renewed for as long as the claim is held. */
  readonly ownLeaseMs: number | null;
}

const MOVED =
  "id, lane, session, held, until_at, lease_ms, claimed_at, claimed_n, precedence, at, attempt, losses, good_until, n";
const CLAIMED = raw(
  "r.id, r.lane, r.epoch, r.attempt, r.losses, r.held, r.good_until, r.lease_ms, t.name, t.input, t.options",
);

const claimedRow = (row: Row): Claimed => ({
  id: text(row.id),
  name: text(row.name),
  lane: text(row.lane),
  epoch: int(row.epoch),
  attempt: int(row.attempt),
  losses: int(row.losses),
  held: flag(row.held),
  input: text(row.input),
  options: text(row.options),
  goodUntil: intOrNull(row.good_until),
  leaseMs: intOrNull(row.lease_ms),
});

/** Claims are sorted here, because MySQL would sort whole inputs on disk. */
export const byEpoch = (a: HeldRow, b: HeldRow): number => a.epoch - b.epoch;

/** The attempt is counted here, at the claim, so that a task that kills its worker cannot do so forever. */
const source = ({ session, held, leaseMs, ownLeaseMs }: Omit<Claim, "ids">): Sql =>
  sql`w.id, w.lane, ${asText(session)}, ${raw(held ? "1" : "0")}, ${leaseNow} + ${asInt(Math.min(leaseMs, ownLeaseMs ?? leaseMs))}, ${ownLeaseMs === null ? raw("NULL") : asInt(ownLeaseMs)}, ${now}, w.n + 1, w.precedence, w.at, w.attempt + 1, w.losses, w.good_until, w.n + 1`;

const asText = (value: string): Sql =>
  by({ postgres: sql`${value}::text`, sqlite: sql`${value}`, mysql: sql`${value}` });
const asInt = (value: number): Sql =>
  by({ postgres: sql`${value}::bigint`, sqlite: sql`${value}`, mysql: sql`${value}` });

/** The statements of a claim. The last one returns the claimed units. */
export function claim(request: Claim, dialect: Dialect): Sql<Claimed>[] {
  return dialect === "postgres" ? [claimAtOnce(request)] : claimInSteps(request, dialect);
}

const claimAtOnce = (request: Claim): Sql<Claimed> =>
  sql`${claimThose(unlocked("sluice_waiting", sql`u.id ${oneOf(request.ids)}`), request)} SELECT ${CLAIMED} FROM r JOIN sluice_task t ON t.id = r.id`.as(
    claimedRow,
  );

/** On PostgreSQL: claims `r` of those waiting units `u`. */
const claimThose = (those: Sql, request: Omit<Claim, "ids">): Sql =>
  sql`WITH w AS (DELETE FROM sluice_waiting u WHERE ${those} RETURNING *),
    r AS (INSERT INTO sluice_running (${raw(MOVED)}) SELECT ${source(request)} FROM w ORDER BY w.precedence, w.at, w.id
      RETURNING epoch, id, lane, held, attempt, losses, good_until, lease_ms, precedence, at)`;

/** A claim and the place in line where it was. */
export interface ClaimedThere {
  readonly claim: Claimed;
  readonly priority: number;
  readonly at: number;
}

/**
 * On PostgreSQL: those of the rows `u` that nobody else has locked. A pass holds gates, so it must not wait for
 * somebody who ends these units and may wait for a claim that this pass has reported.
 */
export const unlocked = (table: "sluice_waiting" | "sluice_later" | "sluice_running", which: Sql): Sql =>
  sql`u.id = ANY(ARRAY(SELECT u.id FROM ${raw(table)} u WHERE ${which} FOR UPDATE SKIP LOCKED))`;

/** On PostgreSQL: the same in one statement with the choice of the units, which locks them. */
export const claimChosen = (chosen: Sql, request: Omit<Claim, "ids">): Sql<ClaimedThere> =>
  sql`${claimThose(sql`u.id = ANY(ARRAY(${chosen}))`, request)} SELECT ${CLAIMED}, r.precedence, r.at FROM r JOIN sluice_task t ON t.id = r.id`.as(
    (row) => ({ claim: claimedRow(row), priority: 0 - int(row.precedence), at: int(row.at) }),
  );

function claimInSteps(request: Claim, dialect: "sqlite" | "mysql"): Sql<Claimed>[] {
  const { ids, session } = request;
  return [
    // MySQL would read these rows without a lock unless told otherwise, and a cancel could slip in between.
    sql`INSERT INTO sluice_running (${raw(MOVED)}) SELECT ${source(request)} FROM sluice_waiting w WHERE w.id ${oneOf(ids)} ORDER BY w.precedence, w.at, w.id${forUpdate}`,
    dialect === "mysql"
      ? sql`DELETE w FROM sluice_waiting w JOIN sluice_running r ON r.id = w.id WHERE w.id ${oneOf(ids)}`
      : sql`DELETE FROM sluice_waiting WHERE id ${oneOf(ids)}`,
    sql`SELECT ${CLAIMED} FROM sluice_running r JOIN sluice_task t ON t.id = r.id WHERE r.id ${oneOf(ids)} AND r.session = ${session}`.as(
      claimedRow,
    ),
  ];
}

export interface HeldRow {
  readonly id: string;
  readonly epoch: number;
}

/**
 * Matches exactly these claims. The epoch alone would be enough, but PostgreSQL finds a claim by its unit and
 * has no index on epochs.
 */
export const among = (claims: readonly HeldRow[]): Sql => {
  const epochs = sql`epoch ${oneOf(claims.map(({ epoch }) => epoch))}`;
  return by({
    postgres: sql`id ${oneOf(claims.map(({ id }) => id))} AND ${epochs}`,
    sqlite: epochs,
    mysql: epochs,
  });
};

/**
 * PostgreSQL may delete claims in the order of the disk. If several of them belong to runs, they are locked by id
 * first, as whoever ends a run locks them. Otherwise the two could wait for each other.
 */
export const lockById = (claims: readonly HeldRow[]): Sql =>
  sql`SELECT id FROM sluice_running WHERE id ${oneOf(claims.map(({ id }) => id))} ORDER BY id${forUpdate}`;

/** From the start on, the session's lease counts, and also the claim's own lease if it has one. */
export const began = sql`started_at = ${now}, until_at = ${leaseNow} + lease_ms`;

/** Marks claims whose code runs as started. A lapsed claim stays lost. */
export const markStarted = (claims: readonly HeldRow[]): Sql =>
  sql`UPDATE sluice_running SET ${began} WHERE ${among(claims)} AND held = 1 AND started_at IS NULL AND until_at > ${leaseNow}`;

/**
 * Prefetched claims take their slots, but only if they are still ours and their claim lease has not run out.
 */
export function startPrefetched(claims: readonly HeldRow[]): Sql<string>[] {
  return [
    sql`UPDATE sluice_running SET held = 1, ${began}, n = n + 1 WHERE ${among(claims)} AND held = 0 AND until_at > ${leaseNow}`,
    sql`INSERT INTO sluice_event (subject, n, kind, at, data) SELECT id, n, 'TaskStarted', ${now}, NULL FROM sluice_running WHERE ${among(claims)} AND held = 1`,
    sql`SELECT id FROM sluice_running WHERE ${among(claims)} AND held = 1`.as(idOf),
  ];
}

export const selectClaimsOf = (session: string): Sql<Claimed> =>
  sql`SELECT ${CLAIMED} FROM sluice_running r JOIN sluice_task t ON t.id = r.id WHERE r.session = ${session}`.as(
    claimedRow,
  );
