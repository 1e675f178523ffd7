/** Lost claims. They are found without a lock, and locked while the pass decides about them. */
import type { Flow } from "../flow.ts";
import { send } from "../flow.ts";
import type { Row } from "../row.ts";
import { flag, int, intOrNull, text, textOrNull } from "../row.ts";
import type { Sql } from "../sql.ts";
import { forUpdateSkipLocked, sql } from "../sql.ts";
import type { LostRow } from "../store.ts";
import type { InHand } from "../usage.ts";
import type { HeldRow } from "./claim.ts";
import { among } from "./claim.ts";
import { LOST } from "./look.ts";

/** Columns whose change shows that the holder is alive. */
interface Signs {
  readonly startedAt: number | null;
  readonly untilAt: number | null;
}

interface Candidate extends HeldRow, Signs, Pick<LostRow, "options" | "input"> {}

const signs = (row: Row): Signs => ({
  startedAt: intOrNull(row.started_at),
  untilAt: intOrNull(row.until_at),
});

export const selectLost = (): Sql<Candidate> =>
  sql`SELECT r.epoch, r.id, r.started_at, r.until_at, t.options, CASE WHEN t.options LIKE ${'%"onFailure"%'} THEN t.input ELSE NULL END AS input
    FROM sluice_running r JOIN sluice_task t ON t.id = r.id LEFT JOIN sluice_session s ON s.id = r.session
    WHERE ${LOST} AND NOT EXISTS (SELECT 1 FROM sluice_aside a WHERE a.lane = r.lane) ORDER BY r.id LIMIT 200`.as(
    (row) => ({
      id: text(row.id),
      epoch: int(row.epoch),
      options: text(row.options),
      input: textOrNull(row.input),
      ...signs(row),
    }),
  );

export interface LostInHand extends InHand {
  readonly claim: LostRow;
}

/**
 * The holder may still be alive and reporting. A claim that is gone, started or renewed by the time we hold
 * the lock is not lost.
 */
export function* holdLost(candidates: readonly Candidate[]): Flow<LostInHand[]> {
  if (candidates.length === 0) return [];
  const byEpoch = new Map(candidates.map((candidate) => [candidate.epoch, candidate]));
  const held = yield* send(lockClaims(candidates));
  return held.flatMap(({ epoch, session, startedAt, untilAt, held, ...rest }) => {
    const seen = byEpoch.get(epoch);
    const isAsSeen = seen?.startedAt === startedAt && seen?.untilAt === untilAt;
    if (!seen || !isAsSeen) return [];
    // A claim that holds its slots may have started even if its start was not reported yet.
    const started = startedAt !== null || held;
    const { options, input } = seen;
    return [{ lane: rest.lane, session, held, claim: { epoch, started, options, input, ...rest } }];
  });
}

interface HeldClaim extends Omit<LostRow, "started" | "options" | "input">, InHand, Signs {}

/** Skips claims that another transaction has locked: that transaction takes care of them. */
const lockClaims = (claims: readonly HeldRow[]): Sql<HeldClaim> =>
  sql`SELECT epoch, id, lane, session, held, started_at, until_at, attempt, losses, good_until FROM sluice_running WHERE ${among(claims)} ORDER BY id${forUpdateSkipLocked}`.as(
    heldClaim,
  );

const heldClaim = (row: Row): HeldClaim => ({
  id: text(row.id),
  epoch: int(row.epoch),
  lane: text(row.lane),
  session: text(row.session),
  held: flag(row.held),
  ...signs(row),
  attempt: int(row.attempt),
  losses: int(row.losses),
  goodUntil: intOrNull(row.good_until),
});
