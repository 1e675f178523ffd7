/**
 * Ends units that did not run to completion: expired, cancelled with their run, or given up while they
 * waited.
 */

import { RUNS } from "../runs.ts";
import type { Dialect, Sql } from "../sql.ts";
import { by, forUpdate, now, oneOf, raw, sql } from "../sql.ts";
import type { FinalState } from "../store.ts";
import { tellChildren } from "./child.ts";
import { unlocked } from "./claim.ts";
import { insertNewsOf } from "./news.ts";
import { isStillStopping, keepStopping } from "./stopping.ts";
import { tellEnding, tells, tellsBeside } from "./tell.ts";

const OUTCOME = raw(
  "sluice_outcome (id, state, epoch, attempt, losses, body, session, claimed_at, claimed_n, finished_at, n)",
);

interface Place {
  readonly table: "sluice_waiting" | "sluice_later" | "sluice_running";
  /** The condition on its rows. */
  readonly which: Sql;
  /** The claims that keep their slots until their code has ended. By default, all that hold slots. */
  readonly stopping?: Sql;
  /** The reason kept with these claims. By default the state in which their units end. */
  readonly because?: Sql;
  /** True to leave out, on PostgreSQL, rows that another transaction has locked. */
  readonly unlockedOnly?: boolean;
}

/** How ends are written. `quiet`: there is no listener, so no change is recorded. */
export interface EndWriting {
  readonly dialect: Dialect;
  readonly quiet: boolean;
}

export interface End {
  readonly state: FinalState;
  /** JSON text. */
  readonly body: string | null;
}

const UNCLAIMED = "NULL, NULL, NULL";
const CLAIMED = "u.session, u.claimed_at, u.claimed_n";
const EXPIRED: End = { state: "expired", body: null };

/** The delete decides: a unit that has moved on in the meantime is neither deleted nor ended. */
export function endFrom(
  { table, which, stopping = sql`u.held = 1`, because, unlockedOnly = false }: Place,
  { state, body }: End,
  { dialect, quiet }: EndWriting,
): Sql[] {
  const isClaim = table === "sluice_running";
  const epoch = raw(isClaim ? "u.epoch" : "NULL");
  const text = by({ postgres: sql`${body}::text`, sqlite: sql`${body}`, mysql: sql`${body}` });
  const values = sql`u.id, ${raw(`'${state}'`)}, ${epoch}, u.attempt, u.losses, ${text}, ${raw(isClaim ? CLAIMED : UNCLAIMED)}, ${now}, u.n + 1`;
  if (dialect === "postgres") {
    const kept = sql`, s AS (${keepStopping(sql`u WHERE ${stopping}`, "u", because ?? state)})`;
    const told = sql`, c AS (${tellEnding(state, text, sql`u JOIN sluice_task t ON t.id = u.id WHERE 1 = 1`)})`;
    const rows = unlockedOnly ? unlocked(table, which) : which;
    const moved = sql`WITH u AS (DELETE FROM ${raw(table)} u WHERE ${rows} RETURNING *)${isClaim ? kept : raw("")}${quiet ? raw("") : told} INSERT INTO ${OUTCOME} SELECT ${values} FROM u`;
    return [quiet ? moved : tellsBeside(moved)];
  }
  // Only the units that the first statement has ended. Others may have arrived since.
  const ended = sql`sluice_running u JOIN sluice_outcome o ON o.id = u.id WHERE ${which} AND ${stopping}`;
  const alsoEnded = sql`${raw(table)} u JOIN sluice_outcome o ON o.id = u.id JOIN sluice_task t ON t.id = u.id WHERE ${which}`;
  return [
    sql`INSERT INTO ${OUTCOME} SELECT ${values} FROM ${raw(table)} u WHERE ${which}${forUpdate}`,
    ...(isClaim ? [keepStopping(ended, "u", because ?? state)] : []),
    ...(quiet ? [] : [tells(tellEnding(state, text, alsoEnded))]),
    by({
      postgres: "",
      sqlite: sql`DELETE FROM ${raw(table)} AS u WHERE ${which}`,
      mysql: sql`DELETE u FROM ${raw(table)} u JOIN sluice_outcome o ON o.id = u.id WHERE ${which}`,
    }),
  ];
}

/** For a pass. A unit that is locked expires in a later pass. */
export const expireWaiting = (ids: readonly string[], ending: EndWriting): Sql[] => [
  ...endFrom(
    { table: "sluice_waiting", which: sql`u.id ${oneOf(ids)}`, unlockedOnly: true },
    EXPIRED,
    ending,
  ),
  insertNewsOf(ids),
];

/**
 * Expires units wherever they are: in line, delayed or prefetched. A unit that holds its slots has started
 * and goes on.
 */
export const expireAnywhere = (ids: readonly string[], ending: EndWriting): Sql[] => {
  const which = sql`u.id ${oneOf(ids)}`;
  return [
    ...endFrom({ table: "sluice_waiting", which }, EXPIRED, ending),
    ...endFrom({ table: "sluice_later", which }, EXPIRED, ending),
    ...endFrom({ table: "sluice_running", which: sql`${which} AND u.held = 0` }, EXPIRED, ending),
    insertNewsOf(ids),
  ];
};

/** The order finds a unit that is being moved at this moment, either at its old place or at its new one. */
const EVERYWHERE = [
  "sluice_waiting",
  "sluice_later",
  "sluice_running",
  "sluice_waiting",
  "sluice_later",
] as const;

/**
 * Ends units wherever they are. A pass locks the claims that it reports by id, before anything else, and waits
 * for no unit in line. So claims are locked by id here, too, and the two never wait for each other.
 */
export function endEverywhere(which: Sql, end: End, ending: EndWriting): Sql[] {
  const claimsById = sql`SELECT u.id FROM sluice_running u WHERE ${which} ORDER BY u.id${forUpdate}`;
  return EVERYWHERE.flatMap((table) => [
    ...(table === "sluice_running" && ending.dialect === "postgres" ? [claimsById] : []),
    ...endFrom({ table, which, because: WITH_PARENT }, end, ending),
  ]);
}

/** A child run ends at once. A look of its own ends the units below it, one level per look. */
const WITH_PARENT = sql`CASE WHEN u.session = ${RUNS} THEN 'parent' ELSE 'cancelled' END`;

/** Ends all remaining units of these runs. */
export const endUnitsOf = (runs: readonly string[], end: End, ending: EndWriting): Sql[] => [
  ...endEverywhere(sql`u.id IN (SELECT k.id FROM sluice_task k WHERE k.run ${oneOf(runs)})`, end, ending),
  tellChildren(runs),
];

export const endWaiting = (id: string, end: End, ending: EndWriting): Sql[] =>
  endFrom({ table: "sluice_waiting", which: sql`u.id = ${id}` }, end, ending);

/**
 * Ends the claim of a run, if it still has the epoch that was seen. Its units have ended before. The run
 * keeps its slots as long as they keep theirs.
 */
export const endRun = (run: { id: string; epoch: number }, end: End, ending: EndWriting): Sql[] =>
  endFrom(
    {
      table: "sluice_running",
      which: sql`u.id = ${run.id} AND u.epoch = ${run.epoch}`,
      stopping: isStillStopping("u.id"),
    },
    end,
    ending,
  );

export const endLater = (id: string, end: End, ending: EndWriting): Sql[] =>
  endFrom({ table: "sluice_later", which: sql`u.id = ${id}` }, end, ending);
