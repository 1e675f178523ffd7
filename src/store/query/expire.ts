/** Units whose time is over before they started: out of line and into an outcome. */
import type { Sql } from "../sql.ts";
import { forUpdate, now, oneOf, raw, sql } from "../sql.ts";

const EXPIRABLE = { waiting: "sluice_waiting", later: "sluice_later", prefetched: "sluice_running" } as const;

function expireFrom(table: string, ids: readonly string[], only: Sql): Sql[] {
  const claimed = only === NONE ? UNCLAIMED : CLAIMED;
  const from = sql`${raw(table)} u WHERE u.id ${oneOf(ids)}${only}`;
  return [
    sql`SELECT u.id FROM ${from}${forUpdate}`,
    sql`INSERT INTO sluice_outcome (id, state, epoch, attempt, losses, body, session, claimed_at, claimed_n, finished_at, n) SELECT u.id, 'expired', ${claimed.epoch}, u.attempt, u.losses, NULL, ${claimed.session}, ${claimed.at}, ${claimed.n}, ${now}, u.n + 1 FROM ${from}`,
    sql`DELETE FROM ${raw(table)} WHERE id ${oneOf(ids)}${only === NONE ? NONE : raw(" AND held = 0")}`,
  ];
}

const NONE = raw("");
const UNCLAIMED = { epoch: raw("NULL"), session: raw("NULL"), at: raw("NULL"), n: raw("NULL") };
const CLAIMED = {
  epoch: raw("u.epoch"),
  session: raw("u.session"),
  at: raw("u.claimed_at"),
  n: raw("u.claimed_n"),
};

export const expireWaiting = (ids: readonly string[]): Sql[] => expireFrom(EXPIRABLE.waiting, ids, NONE);

/** Wherever they are: in line, delayed, or claimed ahead of time. What has its slots has started and goes on. */
export function expireAnywhere(ids: readonly string[]): Sql[] {
  return [
    ...expireFrom(EXPIRABLE.waiting, ids, NONE),
    ...expireFrom(EXPIRABLE.later, ids, NONE),
    ...expireFrom(EXPIRABLE.prefetched, ids, raw(" AND u.held = 0")),
  ];
}
