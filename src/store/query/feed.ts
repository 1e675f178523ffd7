/**
 * Publishing and reading. Numbers given when a change is recorded are not in the order of commits, so they are given
 * again: under the lock of one row, whoever reads takes what is committed and gives it the next positions. What was
 * recorded is read in a later statement than the lock, or it would be as it was before the wait; and it is deleted row by
 * row, never by range, because an open transaction may have written a lower number that it commits later.
 */
import type { Change, Interest, Listener, Page } from "../feed.ts";
import { covers, keepFor } from "../feed.ts";
import type { Flow, Row } from "../flow.ts";
import { flight, lastFlight } from "../flow.ts";
import type { Sql } from "../sql.ts";
import { forUpdate, now, oneOf, raw, read, rows, sql, throughKey } from "../sql.ts";
import { waitOutside } from "./door.ts";

const RECORDED = "kind, subject, n, run, step, item, task, queue, at, data";
/** So many are published at once. */
const BATCH = 1_000;

const lockHead: Sql = sql`SELECT last_pos, swept_pos FROM sluice_feed WHERE id = 1${forUpdate}`;
const selectNew = (many: number): Sql =>
  sql`SELECT seq FROM sluice_change_new ORDER BY seq LIMIT ${raw(String(many))}`;

/** True when there may be more. */
export function* publish(): Flow<boolean> {
  const [head = [], found = []] = yield* flight(lockHead, selectNew(BATCH));
  if (found.length === 0) return false;
  const last = Number(head[0]?.last_pos);
  const among = sql`seq ${oneOf(found.map((row) => Number(row.seq)))}`;
  yield* lastFlight(
    sql`INSERT INTO sluice_change (pos, ${raw(RECORDED)}, told_at) SELECT ${last} + ROW_NUMBER() OVER (ORDER BY seq), ${raw(RECORDED)}, ${now} FROM sluice_change_new WHERE ${among}`,
    sql`DELETE FROM sluice_change_new WHERE ${among}`,
    sql`UPDATE sluice_feed SET last_pos = ${last + found.length} WHERE id = 1`,
  );
  return found.length === BATCH;
}

export interface Look {
  readonly after: number;
  readonly limit: number;
  readonly listeners: readonly string[];
}

/** Whatever is committed at this instant, and whether something waits to be published. */
export function* look({ after, limit, listeners }: Look): Flow<Page & { readonly unpublished: boolean }> {
  const [waiting = [], found = [], there = [], head = []] = yield* flight(
    read(selectNew(1)),
    read(
      sql`SELECT pos, ${raw(RECORDED)} FROM sluice_change WHERE pos > ${after} ORDER BY pos LIMIT ${raw(String(Math.trunc(limit)))}`,
    ),
    read(sql`SELECT id FROM sluice_listener WHERE id ${oneOf(listeners)}`),
    read(sql`SELECT swept_pos FROM sluice_feed WHERE id = 1`),
  );
  return {
    changes: found.map(changeRow),
    more: found.length === limit,
    lapsed: after < Number(head[0]?.swept_pos),
    alive: new Set(there.map((row) => row.id as string)),
    unpublished: waiting.length > 0,
  };
}

const number = (value: unknown): number | null =>
  value === null || value === undefined ? null : Number(value);
const text = (value: unknown): string | null =>
  value === null || value === undefined ? null : String(value);

const changeRow = (row: Row): Change => ({
  position: Number(row.pos),
  kind: String(row.kind),
  subject: String(row.subject),
  n: number(row.n),
  run: text(row.run),
  step: text(row.step),
  item: number(row.item),
  task: text(row.task),
  queue: text(row.queue),
  at: Number(row.at),
  data: text(row.data),
});

const LISTENER = {
  id: "text",
  topics: "int",
  run: "text",
  task: "text",
  queue: "text",
  keep_ms: "int",
  since_pos: "int",
} as const;

/** From its commit on, whoever comes through the door sees them. */
export function* open(listeners: readonly Listener[], since: number | null = null): Flow<void> {
  yield* lastFlight(insertListeners(listeners, since));
}

const insertListeners = (listeners: readonly Listener[], since: number | null): Sql => {
  const list = rows(
    "x",
    LISTENER,
    listeners.map(({ keepMs, ...rest }) => ({ ...rest, keep_ms: keepFor(keepMs), since_pos: since })),
  );
  return sql`INSERT INTO sluice_listener (id, topics, run, task, queue, keep_ms, since_pos, until_at)
    SELECT x.id, x.topics, x.run, x.task, x.queue, x.keep_ms, x.since_pos, ${now} + x.keep_ms FROM ${list}`;
};

export function* waitForThoseInside(): Flow<void> {
  yield* lastFlight(waitOutside);
}

/** Where they begin. What is published later was not committed before. */
export function* begin(listeners: readonly string[]): Flow<number> {
  const [head = []] = yield* flight(lockHead);
  const last = Number(head[0]?.last_pos);
  yield* lastFlight(sql`UPDATE sluice_listener SET since_pos = ${last} WHERE id ${oneOf(listeners)}`);
  return last;
}

/** The other listener is held while it is looked at, so it cannot be forgotten before this one is there. */
export function* resume(
  listener: Listener,
  from: { readonly listener: string; readonly position: number },
): Flow<boolean> {
  const [found = [], head = []] = yield* flight(
    sql`SELECT topics, run, task, queue, since_pos FROM sluice_listener WHERE id = ${from.listener}${forUpdate}`,
    lockHead,
  );
  const known = found[0];
  if (!known || known.since_pos === null || from.position < Number(known.since_pos)) return false;
  if (from.position < Number(head[0]?.swept_pos) || from.position > Number(head[0]?.last_pos)) return false;
  if (!covers(interestOf(known), listener)) return false;
  yield* lastFlight(insertListeners([listener], from.position));
  return true;
}

const interestOf = (row: Row): Interest => ({
  topics: Number(row.topics),
  run: text(row.run),
  task: text(row.task),
  queue: text(row.queue),
});

export function* renew(listeners: readonly string[]): Flow<ReadonlySet<string>> {
  const [found = []] = yield* flight(
    sql`SELECT id FROM sluice_listener WHERE id ${oneOf(listeners)} ORDER BY id${forUpdate}`,
  );
  const there = found.map((row) => row.id as string);
  const sweepable = yield* lookForOld();
  yield* lastFlight(
    sql`UPDATE sluice_listener SET until_at = ${now} + keep_ms WHERE id ${oneOf(there)}`,
    ...sweep(sweepable, there),
  );
  return new Set(there);
}

export function* close(listeners: readonly string[]): Flow<void> {
  yield* lastFlight(sql`DELETE FROM sluice_listener WHERE id ${oneOf(listeners)}`);
}

export interface Old {
  readonly listeners: readonly string[];
  /** The last change that nobody can ask for any more. */
  readonly upTo: number | null;
  /** Recorded for listeners that are gone. */
  readonly orphans: readonly number[];
}

/** So much is swept at once. */
const SWEPT = 2_000;

export const selectOld: readonly Sql[] = [
  sql`SELECT id FROM sluice_listener WHERE ${throughKey("id")} AND until_at < ${now} ORDER BY id LIMIT 100`,
  // As old as the longest keep of those who listen; where nobody does, as soon as a late reader could have had them.
  sql`SELECT max(c.pos) AS pos FROM (SELECT o.pos, o.told_at FROM sluice_change o ORDER BY o.pos LIMIT ${raw(String(SWEPT))}) AS c
    WHERE c.told_at < ${now} - (SELECT COALESCE(max(x.keep_ms), 30000) FROM sluice_listener x WHERE ${throughKey("x.id")})`,
  sql`SELECT c.seq FROM sluice_change_new c WHERE (SELECT x.topics FROM sluice_listener x WHERE ${throughKey("x.id")} LIMIT 1) IS NULL ORDER BY c.seq LIMIT ${raw(String(SWEPT))}`,
];

export const oldOf = ([listeners = [], changes = [], orphans = []]: readonly Row[][]): Old => ({
  listeners: listeners.map((row) => row.id as string),
  upTo: number(changes[0]?.pos),
  orphans: orphans.map((row) => Number(row.seq)),
});

function* lookForOld(): Flow<Old> {
  return oldOf(yield* flight(...selectOld));
}

/** Nothing where nothing is old. A listener that was renewed meanwhile stays. */
export function sweep({ listeners, upTo, orphans }: Old, except: readonly string[] = []): Sql[] {
  const gone = listeners.filter((id) => !except.includes(id));
  return [
    ...(gone.length > 0
      ? [sql`DELETE FROM sluice_listener WHERE id ${oneOf(gone)} AND until_at < ${now}`]
      : []),
    ...(upTo === null
      ? []
      : [
          sql`UPDATE sluice_feed SET swept_pos = ${upTo} WHERE id = 1 AND swept_pos < ${upTo}`,
          sql`DELETE FROM sluice_change WHERE pos <= ${upTo}`,
        ]),
    ...(orphans.length > 0 ? [sql`DELETE FROM sluice_change_new WHERE seq ${oneOf(orphans)}`] : []),
  ];
}
