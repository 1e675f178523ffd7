/**
 * Moves a claim that ends: to an outcome, to later (a delayed retry), or back in line. Reports of holders and
 * decisions of recovery both use it, so there is one way out of `running`. A claim that is gone or has
 * another epoch by now matches nothing: the report is stale and changes nothing.
 */

import type { EventKind } from "../../core/event.ts";
import { inPortions } from "../portions.ts";
import type { Row } from "../row.ts";
import { int } from "../row.ts";
import type { ColumnType, Dialect, Sql, Value } from "../sql.ts";
import { forUpdate, now, oneOf, raw, rows, sql } from "../sql.ts";
import type { Ended, Finished, Recovery, Stopped } from "../store.ts";
import { insertArrivals } from "./arrival.ts";
import { among } from "./claim.ts";
import { claimedData } from "./event.ts";
import { keepStopping } from "./stopping.ts";
import { NOBODY_LISTENS } from "./tell.ts";

/** A claim's way out. A type and not an interface, because its fields are read by column name. */
export type Exit = {
  readonly id: string;
  readonly epoch: number;
  readonly to: "outcome" | "later" | "again" | "back" | "gone";
  readonly state: string;
  /** Null if it leaves no history. */
  readonly kind: EventKind | null;
  readonly body: string | null;
  /** The data of the event in the history. */
  readonly data: string | null;
  readonly delay: number;
  /** 1 gives the attempt back, because it never started. */
  readonly unburnt: number;
  /** 1 counts a lost lease. */
  readonly loss: number;
  /** Whether its code still runs and holds what it held. */
  readonly stopping: boolean;
};

const FINISHED = {
  succeeded: { to: "outcome", kind: "TaskSucceeded" },
  failed: { to: "outcome", kind: "TaskFailed" },
  retry: { to: "later", kind: "TaskRetried" },
  returned: { to: "back", kind: "TaskReturned" },
  gone: { to: "gone", kind: null },
} as const;

export const exitOf = (finished: Exclude<Finished, Stopped>): Exit =>
  "revoked" in finished ? exitOfLost(finished) : exitOfEnded(finished);

function exitOfEnded({ id, epoch, to, body, delayMs, stopping }: Ended): Exit {
  const way = to === "retry" && delayMs === 0 ? "again" : FINISHED[to].to;
  // A result is stored once, in the outcome. An error is part of the history of every attempt.
  const data =
    to === "succeeded" ? null : to === "retry" ? `{"delayMs":${delayMs},"error":${body ?? "null"}}` : body;
  return {
    id,
    epoch,
    to: way,
    state: to,
    kind: FINISHED[to].kind,
    body,
    data,
    delay: delayMs,
    unburnt: to === "returned" ? 1 : 0,
    loss: 0,
    stopping: stopping === true,
  };
}

const LOST = {
  waiting: { to: "back", kind: "TaskReturned" },
  retry: { to: "again", kind: "TaskLost" },
  failed: { to: "outcome", kind: "TaskFailed" },
  quarantined: { to: "outcome", kind: "TaskQuarantined" },
  expired: { to: "outcome", kind: "TaskExpired" },
  gone: { to: "gone", kind: null },
} as const;

export function exitOfLost({ id, epoch, to, body }: Recovery): Exit {
  const began = to !== "waiting";
  return {
    id,
    epoch,
    ...LOST[to],
    state: to,
    body,
    data: body,
    delay: 0,
    unburnt: began ? 0 : 1,
    loss: began ? 1 : 0,
    stopping: false,
  };
}

/** The columns that each way out needs from its reports. */
const NEEDS = {
  outcome: { epoch: "int", state: "text", body: "text", loss: "int" },
  later: { epoch: "int", kind: "text", data: "text", delay: "int", unburnt: "int", loss: "int" },
  again: { epoch: "int", kind: "text", data: "text", unburnt: "int", loss: "int" },
  back: { epoch: "int", kind: "text", data: "text", unburnt: "int", loss: "int" },
  gone: { epoch: "int" },
} as const satisfies Record<Exit["to"], Partial<Record<keyof Exit, ColumnType>>>;

/** The statements of each way out. They return the epochs that were still current. */
export function settle(exits: readonly Exit[], dialect: Dialect): Sql<number>[] {
  const statements: Sql<number>[] = [];
  const gone = exits.filter(({ to }) => to === "gone");
  statements.push(...inPortions(gone, (part) => withoutTrace(part, dialect)).flat());
  for (const way of ["outcome", "later", "again", "back"] as const) {
    for (const keeps of [false, true]) {
      const group = exits.filter(({ to, stopping }) => to === way && stopping === keeps);
      const settled = inPortions(group, (part) =>
        dialect === "postgres" ? [atOnce(way, part)] : inSteps(way, part),
      );
      statements.push(...settled.flat());
    }
  }
  return statements;
}

const epochOf = ({ epoch }: Row): number => int(epoch);

const TABLES = {
  outcome:
    "sluice_outcome (id, state, epoch, attempt, losses, body, session, claimed_at, claimed_n, finished_at, n)",
  later: "sluice_later (id, lane, precedence, at, attempt, losses, good_until, n, because)",
  again: "sluice_waiting (id, lane, precedence, at, attempt, losses, good_until, n)",
  back: "sluice_waiting (id, lane, precedence, at, attempt, losses, good_until, n)",
} as const;

/** The ways out on which the unit stays in the store. */
type Kept = Exclude<Exit["to"], "gone">;

/** The names of the columns of a claim and of its report. */
interface Names {
  readonly r: string;
  f(column: "state" | "kind" | "body" | "data" | "delay" | "unburnt" | "loss"): string;
}

/**
 * A unit that never ran keeps its place. A retried unit goes behind those that came in the meantime, but an
 * item of a list keeps its place among the others.
 */
function values(way: Kept, { r, f }: Names): Sql {
  const losses = `${r}.losses + ${f("loss")}`;
  if (way === "outcome") {
    const claim = `${r}.session, ${r}.claimed_at, ${r}.claimed_n`;
    return sql`${raw(`${r}.id, ${f("state")}, ${r}.epoch, ${r}.attempt, ${losses}, ${f("body")}, ${claim}`)}, ${now}, ${raw(`${r}.n + 1`)}`;
  }
  const again = sql`CASE WHEN (SELECT i.item FROM sluice_task i WHERE i.id = ${raw(r)}.id) IS NOT NULL THEN ${raw(r)}.at ELSE ${now} END`;
  const at = way === "later" ? sql`${now} + ${raw(f("delay"))}` : way === "again" ? again : raw(`${r}.at`);
  const because = way === "later" ? ", 'retry'" : "";
  return sql`${raw(`${r}.id, ${r}.lane, ${r}.precedence`)}, ${at}, ${raw(`${r}.attempt - ${f("unburnt")}, ${losses}, ${r}.good_until, ${r}.n + 1${because}`)}`;
}

/**
 * An outcome implies its end and its last claim. A unit that goes back in line leaves both in the history.
 */
function inserts(way: Kept, names: Names, from: Sql): readonly [Sql, ...Sql[]] {
  const { r, f } = names;
  const moved = sql`INSERT INTO ${raw(TABLES[way])} SELECT ${values(way, names)} FROM ${from}`;
  if (way === "outcome") return [moved];
  const event = raw("INSERT INTO sluice_event (subject, n, kind, at, data)");
  return [
    moved,
    sql`${event} SELECT ${raw(`${r}.id, ${r}.claimed_n, 'TaskClaimed', ${r}.claimed_at`)}, ${claimedData(r)} FROM ${from}`,
    sql`${event} SELECT ${raw(`${r}.id, ${r}.n + 1, ${f("kind")}`)}, ${now}, ${raw(f("data"))} FROM ${from}`,
  ];
}

const isInLine = (way: Kept): boolean => way === "again" || way === "back";

/**
 * One statement on PostgreSQL. The reports travel as one JSON object keyed by unit, and the delete looks up
 * its own. A join would be planned for the table as it was when it was empty, and would compare every claim
 * with every report.
 */
function atOnce(way: Kept, group: readonly Exit[], { unless, also }: Extra = NOTHING): Sql<number> {
  const needs: Readonly<Record<string, ColumnType>> = NEEDS[way];
  const columns = Object.keys(needs);
  const valuesOf = (exit: Readonly<Record<string, Value>>) => columns.map((name) => exit[name]);
  const byUnit = Object.fromEntries(group.map((exit) => [exit.id, valuesOf(exit)]));
  const text = JSON.stringify(byUnit);
  const f = (column: string): string => {
    const value = `(g.f ->> ${columns.indexOf(column)})`;
    return needs[column] === "int" ? `${value}::bigint` : value;
  };
  const [moved, ...events] = inserts(way, { r: "g", f }, raw("g"));
  const arrivals = insertArrivals(raw("w0 AS w JOIN sluice_task t ON t.id = w.id"));
  const stopping = group[0]?.stopping ? [keepStopping(raw("g WHERE g.held = 1"), "g", "timeout")] : [];
  const written = isInLine(way)
    ? [sql`${moved} RETURNING id, precedence, at`, ...events, arrivals, ...stopping]
    : [moved, ...events, ...stopping];
  const parts = written.map((each, index) => sql`, w${raw(String(index))} AS (${each})`);
  return sql`WITH reports AS (SELECT ${text}::jsonb AS by_unit), g AS (DELETE FROM sluice_running r USING reports
      WHERE r.id ${oneOf(group.map(({ id }) => id))} AND r.epoch = (reports.by_unit -> r.id ->> 0)::bigint${unless}
      RETURNING r.*, reports.by_unit -> r.id AS f)
    ${parts.reduce((left, right) => sql`${left}${right}`)} SELECT epoch${also} FROM g`.as(epochOf);
}

/** Additions to the statement of PostgreSQL: a further condition, and a column of the answer. */
interface Extra {
  readonly unless: Sql;
  readonly also: Sql;
}

const NOTHING: Extra = { unless: raw(""), also: raw("") };

/**
 * Outcomes for the swap on PostgreSQL. Nothing is settled while somebody listens to the feed, because nothing
 * here records changes. Later statements of the transaction read from `SETTLED` how many were settled.
 */
export const settleUnheard = (exits: readonly Exit[]): Sql<number>[] =>
  inPortions(exits, (part) => atOnce("outcome", part, UNHEARD));

const UNHEARD: Extra = {
  unless: sql` AND ${NOBODY_LISTENS}`,
  also: raw(", (SELECT set_config('sluice.settled', count(*)::text, true) FROM g) AS counted"),
};

export const SETTLED = raw("current_setting('sluice.settled', true)");

function inSteps(way: Kept, group: readonly Exit[]): Sql<number>[] {
  const needs: Readonly<Record<string, ColumnType>> = NEEDS[way];
  const list = rows("f", needs, group);
  const joined = sql`${list} JOIN sluice_running r ON r.epoch = f.epoch`;
  return [
    sql`SELECT epoch FROM sluice_running WHERE ${among(group)} ORDER BY epoch${forUpdate}`.as(epochOf),
    ...inserts(way, { r: "r", f: (column) => `f.${column}` }, joined),
    ...(isInLine(way)
      ? [
          insertArrivals(
            sql`${joined} JOIN sluice_waiting w ON w.id = r.id JOIN sluice_task t ON t.id = r.id`,
          ),
        ]
      : []),
    ...(group[0]?.stopping
      ? [keepStopping(sql`sluice_running r WHERE ${among(group)} AND r.held = 1`, "r", "timeout")]
      : []),
    sql`DELETE FROM sluice_running WHERE ${among(group)}`,
  ];
}

/** A request for a lock is over: its body and its history go with its claim. */
function withoutTrace(group: readonly Exit[], dialect: Dialect): Sql<number>[] {
  const ids = group.map(({ id }) => id);
  const ends = (table: string, unit: string): Sql =>
    sql`DELETE FROM ${raw(table)} WHERE ${raw(unit)} ${oneOf(ids)} AND ${dialect === "postgres" ? raw(`EXISTS (SELECT 1 FROM g WHERE g.id = ${table}.${unit})`) : sql`EXISTS (SELECT 1 FROM sluice_running r WHERE r.id = ${raw(`${table}.${unit}`)} AND r.epoch ${oneOf(group.map(({ epoch }) => epoch))})`}`;
  const rest = [ends("sluice_task", "id"), ends("sluice_event", "subject")];
  const claims = sql`DELETE FROM sluice_running WHERE ${among(group)}`;
  if (dialect !== "postgres")
    return [
      sql`SELECT epoch FROM sluice_running WHERE ${among(group)} ORDER BY epoch${forUpdate}`.as(epochOf),
      ...rest,
      claims,
    ];
  const parts = rest.map((each, index) => sql`, w${raw(String(index))} AS (${each})`);
  return [
    sql`WITH g AS (${claims} RETURNING id, epoch)${parts.reduce((left, right) => sql`${left}${right}`)} SELECT epoch FROM g`.as(
      epochOf,
    ),
  ];
}
