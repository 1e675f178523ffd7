/** Units whose time is over before they started: out of line and into an outcome. */
import type { Dialect, Sql } from "../sql.ts";
import { by, forUpdate, now, oneOf, raw, sql } from "../sql.ts";

const OUTCOME = raw(
  "sluice_outcome (id, state, epoch, attempt, losses, body, session, claimed_at, claimed_n, finished_at, n)",
);

interface Place {
  readonly table: string;
  /** Which of its rows can still expire. */
  readonly only: string;
  readonly claim: string;
}

const UNCLAIMED = "NULL, NULL, NULL";
const PLACES: readonly Place[] = [
  { table: "sluice_waiting", only: "", claim: UNCLAIMED },
  { table: "sluice_later", only: "", claim: UNCLAIMED },
  { table: "sluice_running", only: " AND u.held = 0", claim: "u.session, u.claimed_at, u.claimed_n" },
];

/** The delete decides: a unit that has moved on meanwhile is neither deleted nor expired. */
function expireFrom({ table, only, claim }: Place, ids: readonly string[], dialect: Dialect): Sql[] {
  const epoch = raw(claim === UNCLAIMED ? "NULL" : "u.epoch");
  const values = sql`u.id, 'expired', ${epoch}, u.attempt, u.losses, NULL, ${raw(claim)}, ${now}, u.n + 1`;
  const which = sql`u.id ${oneOf(ids)}${raw(only)}`;
  if (dialect === "postgres")
    return [
      sql`WITH u AS (DELETE FROM ${raw(table)} u WHERE ${which} RETURNING *) INSERT INTO ${OUTCOME} SELECT ${values} FROM u`,
    ];
  return [
    sql`INSERT INTO ${OUTCOME} SELECT ${values} FROM ${raw(table)} u WHERE ${which}${forUpdate}`,
    by({
      postgres: "",
      sqlite: sql`DELETE FROM ${raw(table)} AS u WHERE ${which}`,
      mysql: sql`DELETE u FROM ${raw(table)} u JOIN sluice_outcome o ON o.id = u.id WHERE ${which}`,
    }),
  ];
}

export const expireWaiting = (ids: readonly string[], dialect: Dialect): Sql[] =>
  expireFrom(PLACES[0] as Place, ids, dialect);

/** Wherever they are: in line, delayed, or claimed ahead of time. What has its slots has started and goes on. */
export const expireAnywhere = (ids: readonly string[], dialect: Dialect): Sql[] =>
  PLACES.flatMap((place) => expireFrom(place, ids, dialect));
