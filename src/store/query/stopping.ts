/**
 * Slots follow the code, not the record. A unit that was cancelled or timed out has moved on, but as long as
 * its code runs, its claim stays here and keeps its slots: at every gate, and as a used slot of its worker.
 *
 * The claim is deleted when its holder reports that the code has ended, or when a pass finds that its lease
 * has run out. Either leaves news of the unit's run, always and in the same transaction. `advance` decides
 * under the run's lock whether the run is over and this was its last unit. So of two units that stop at the
 * same moment, one is the last.
 */
import type { Flow } from "../flow.ts";
import { send } from "../flow.ts";
import type { Row } from "../row.ts";
import { flag, int, intOrNull, text, textOrNull, word } from "../row.ts";
import type { Sql } from "../sql.ts";
import { forUpdate, forUpdateSkipLocked, leaseNow, now, oneOf, raw, sql } from "../sql.ts";
import type { Stopping, StoppingRow } from "../store.ts";
import type { InHand } from "../usage.ts";
import type { HeldRow } from "./claim.ts";
import { LOST } from "./look.ts";

const COLUMNS = "epoch, id, lane, session, run, until_at, lease_ms, claimed_at, since, because";

/**
 * Keeps claims `r` of `from` on their way out of `running`. Claims without slots hold nothing. A claim that
 * had not started when it was taken away may still start, so its claim lease no longer counts. A lapsed claim
 * stays lost.
 */
export const keepStopping = (from: Sql, r: string, because: string | Sql): Sql => {
  const until = sql`CASE WHEN ${raw(r)}.until_at <= ${leaseNow} THEN ${raw(r)}.until_at WHEN ${raw(r)}.lease_ms IS NULL THEN NULL ELSE ${leaseNow} + ${raw(r)}.lease_ms END`;
  return sql`INSERT INTO sluice_stopping (${raw(COLUMNS)})
    SELECT ${raw(`${r}.epoch, ${r}.id, ${r}.lane, ${r}.session, (SELECT k.run FROM sluice_task k WHERE k.id = ${r}.id)`)}, ${until}, ${raw(`${r}.lease_ms, ${r}.claimed_at`)}, ${now}, ${typeof because === "string" ? raw(`'${because}'`) : because} FROM ${from}`;
};

/** A run holds its own slots as long as one of its units is stopping. */
export const isStillStopping = (run: string): Sql =>
  sql`EXISTS (SELECT 1 FROM sluice_stopping x WHERE x.run = ${raw(run)})`;

/**
 * Their code has ended. The news does not depend on the rows found here: a claim may be moved here at this
 * very moment.
 */
export const release = (claims: readonly HeldRow[]): Sql[] => [
  sql`INSERT INTO sluice_news (run, failed) SELECT DISTINCT t.run, NULL FROM sluice_task t WHERE t.id ${oneOf(claims.map(({ id }) => id))} AND t.run IS NOT NULL`,
  releaseClaims(claims.map(({ epoch }) => epoch)),
];

/** For the claims of runs themselves, under their lock. Writes no news. */
export const releaseClaims = (epochs: readonly number[]): Sql =>
  sql`DELETE FROM sluice_stopping WHERE epoch ${oneOf(epochs)}`;

const LAPSED = 200;

/** A claim of stopping code whose lease has lapsed. */
interface Lapsed {
  readonly epoch: number;
  readonly untilAt: number | null;
}

export const selectLapsed = (): Sql<Lapsed> =>
  sql`SELECT r.epoch, r.id, r.until_at FROM sluice_stopping r LEFT JOIN sluice_session s ON s.id = r.session WHERE ${LOST} ORDER BY r.epoch LIMIT ${raw(String(LAPSED))}`.as(
    lapsedRow,
  );

const lapsedRow = (row: Row): Lapsed => ({ epoch: int(row.epoch), untilAt: intOrNull(row.until_at) });

export interface LapsedInHand extends Lapsed, InHand {
  readonly id: string;
}

/**
 * Locks lapsed claims while they are taken away. A claim that is locked by another transaction, or was
 * renewed in the meantime, still counts.
 */
export function* holdLapsed(candidates: readonly Lapsed[]): Flow<LapsedInHand[]> {
  if (candidates.length === 0) return [];
  const seen = new Map(candidates.map(({ epoch, untilAt }) => [epoch, untilAt]));
  const held = yield* send(
    sql`SELECT epoch, id, lane, session, 1 AS held, until_at FROM sluice_stopping WHERE epoch ${oneOf([...seen.keys()])} ORDER BY epoch${forUpdateSkipLocked}`.as(
      lapsedInHand,
    ),
  );
  return held.filter(({ epoch, untilAt }) => seen.get(epoch) === untilAt);
}

const lapsedInHand = (row: Row): LapsedInHand => ({
  ...lapsedRow(row),
  id: text(row.id),
  lane: text(row.lane),
  session: text(row.session),
  held: flag(row.held),
});

/** A session's stopping claims whose own lease has not run out. */
export const lockLeasedStopping = (session: string): Sql<number> =>
  sql`SELECT epoch FROM sluice_stopping WHERE session = ${session} AND lease_ms IS NOT NULL AND until_at > ${leaseNow} ORDER BY epoch${forUpdate}`.as(
    ({ epoch }) => int(epoch),
  );

export const renewStopping = (epochs: readonly number[]): Sql =>
  sql`UPDATE sluice_stopping SET until_at = ${leaseNow} + lease_ms WHERE epoch ${oneOf(epochs)}`;

export const selectStopping = (session?: string): Sql<StoppingRow> =>
  sql`SELECT r.epoch, r.id, t.name, t.run, t.step, t.item, t.asks, r.session, s.name AS worker, r.since, r.because
    FROM sluice_stopping r JOIN sluice_task t ON t.id = r.id LEFT JOIN sluice_session s ON s.id = r.session
    ${session === undefined ? raw("") : sql`WHERE r.session = ${session}`} ORDER BY r.epoch LIMIT ${raw(String(LAPSED))}`.as(
    stoppingRow,
  );

export const stopping = (session?: string): Flow<StoppingRow[]> => send(selectStopping(session));

const stoppingRow = (row: Row): StoppingRow => ({
  epoch: int(row.epoch),
  id: text(row.id),
  name: text(row.name),
  run: textOrNull(row.run),
  step: textOrNull(row.step),
  item: intOrNull(row.item),
  asks: text(row.asks),
  session: text(row.session),
  worker: textOrNull(row.worker),
  ...stoppingOf(row),
});

const stoppingOf = ({ since, because }: Row): Stopping => ({ since: int(since), because: word(because) });

/** Empty for a claim whose code is meant to run. */
export const toldStopping = (row: Row): { readonly stopping?: Stopping } =>
  row.since === null ? {} : { stopping: stoppingOf(row) };

const HELD = "epoch, id, lane, session";
const LEASED = "until_at, lease_ms, claimed_at";

/** All holders of slots: claims of code that is meant to run, and of code that is stopping. */
export const HOLDING = raw(
  `(SELECT ${HELD}, held, ${LEASED}, CAST(NULL AS DECIMAL) AS since, CAST(NULL AS CHAR) AS because FROM sluice_running
    UNION ALL SELECT ${HELD}, 1, ${LEASED}, since, because FROM sluice_stopping)`,
);
