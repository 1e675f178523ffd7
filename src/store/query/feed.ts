/**
 * Publishes and reads changes. The numbers given at recording are not in commit order, so changes are
 * numbered again: under the lock of one row, a reader takes the committed changes and gives them the next
 * positions. They are read in a later statement than the lock, because the lock's own statement would see the
 * state before the wait. They are deleted row by row and never by range, because an open transaction may hold
 * a lower number that it commits later.
 */
import { covers, keepBehind, keepFor } from "../feed.ts";
import type { Flow } from "../flow.ts";
import { commit, flight, send } from "../flow.ts";
import type { Row } from "../row.ts";
import { idOf, int, intOrNull, only, text, textOrNull, word } from "../row.ts";
import type { Sql } from "../sql.ts";
import { forUpdate, now, oneOf, raw, read, rows, sql } from "../sql.ts";
import type { Change, FeedCursor, FeedLook, Interest, Listener, Page, Renewal } from "../store.ts";
import { MARGIN_MS } from "../store.ts";
import { selectOld, sweep } from "./feed-sweep.ts";

const RECORDED = raw("kind, subject, n, run, step, item, task, queue, at, data");
/** The most changes published in one transaction. */
const BATCH = 1_000;

interface Head {
  /** The last position given, and the last one swept. */
  readonly last: number;
  readonly swept: number;
}

const HEAD = sql`SELECT last_pos, swept_pos FROM sluice_feed WHERE id = 1`;
const headRow = (row: Row): Head => ({ last: int(row.last_pos), swept: int(row.swept_pos) });
const lockHead: Sql<Head> = sql`${HEAD}${forUpdate}`.as(headRow);

const selectNew = (many: number): Sql<number> =>
  sql`SELECT seq FROM sluice_change_new ORDER BY seq LIMIT ${raw(String(many))}`.as(({ seq }) => int(seq));

/** True when there may be more. */
export function* publish(): Flow<boolean> {
  const { head, found } = yield* flight({ head: lockHead, found: selectNew(BATCH) });
  if (found.length === 0) return false;
  const { last } = only(head);
  const among = sql`seq ${oneOf(found)}`;
  yield* commit([
    sql`INSERT INTO sluice_change (pos, ${RECORDED}, told_at) SELECT ${last} + ROW_NUMBER() OVER (ORDER BY seq), ${RECORDED}, ${now} FROM sluice_change_new WHERE ${among}`,
    sql`DELETE FROM sluice_change_new WHERE ${among}`,
    sql`UPDATE sluice_feed SET last_pos = ${last + found.length} WHERE id = 1`,
  ]);
  return found.length === BATCH;
}

/** All changes published at this instant, and whether recorded ones wait to be published. */
export function* look({ after, limit, listeners }: FeedLook): Flow<Page & { readonly unpublished: boolean }> {
  const { waiting, changes, alive, head } = yield* flight({
    waiting: read(selectNew(1)),
    changes: read(
      sql`SELECT pos, ${RECORDED} FROM sluice_change WHERE pos > ${after} ORDER BY pos LIMIT ${raw(String(Math.trunc(limit)))}`.as(
        changeRow,
      ),
    ),
    alive: read(sql`SELECT id FROM sluice_listener WHERE id ${oneOf(listeners)}`.as(idOf)),
    head: read(HEAD.as(headRow)),
  });
  return {
    changes,
    more: changes.length === limit,
    lapsed: after < only(head).swept,
    alive: new Set(alive),
    unpublished: waiting.length > 0,
  };
}

const changeRow = (row: Row): Change => ({
  position: int(row.pos),
  kind: word(row.kind),
  subject: text(row.subject),
  n: intOrNull(row.n),
  run: textOrNull(row.run),
  step: textOrNull(row.step),
  item: intOrNull(row.item),
  task: textOrNull(row.task),
  queue: textOrNull(row.queue),
  at: int(row.at),
  data: textOrNull(row.data),
});

const LISTENER = {
  id: "text",
  topics: "int",
  run: "text",
  task: "text",
  queue: "text",
  keep_ms: "int",
  lives_ms: "int",
  since_pos: "int",
} as const;

/** After this commit, every transaction that asks for listeners sees these. */
export function* open(listeners: readonly Listener[]): Flow<void> {
  yield* commit(insertListeners(listeners, null));
}

/** The listener itself stays for its keep time and the margin; the changes it needs may stay longer. */
const until = (keepMs: number): Sql => sql`${now} + ${raw(String(keepFor(keepMs) + MARGIN_MS))}`;

/** How long ago the first change after a position was published. No row if there is none. */
const selectBehind = (position: number): Sql<number> =>
  sql`SELECT ${now} - c.told_at AS behind FROM sluice_change c WHERE c.pos > ${position} ORDER BY c.pos LIMIT 1`.as(
    ({ behind }) => int(behind),
  );

const insertListeners = (listeners: readonly Listener[], since: number | null, behindMs = 0): Sql => {
  const list = rows(
    "x",
    LISTENER,
    listeners.map(({ id, topics, run, task, queue, keepMs }) => ({
      id,
      topics,
      run,
      task,
      queue,
      keep_ms: keepBehind(keepMs, behindMs),
      lives_ms: keepFor(keepMs) + MARGIN_MS,
      since_pos: since,
    })),
  );
  return sql`INSERT INTO sluice_listener (id, topics, run, task, queue, keep_ms, since_pos, until_at)
    SELECT x.id, x.topics, x.run, x.task, x.queue, x.keep_ms, x.since_pos, ${now} + x.lives_ms FROM ${list}`;
};

/** Sets where the listeners begin. Changes published later were not committed before. */
export function* begin(listeners: readonly string[]): Flow<number> {
  const { last } = only(yield* send(lockHead));
  yield* commit(sql`UPDATE sluice_listener SET since_pos = ${last} WHERE id ${oneOf(listeners)}`);
  return last;
}

interface Known extends Interest {
  /** The position where it began; null while it is being opened. */
  readonly since: number | null;
}

const knownRow = (row: Row): Known => ({
  topics: int(row.topics),
  run: textOrNull(row.run),
  task: textOrNull(row.task),
  queue: textOrNull(row.queue),
  since: intOrNull(row.since_pos),
});

/** The other listener is locked while it is read, so it cannot be swept before the new one exists. */
export function* resume(listener: Listener, from: FeedCursor): Flow<boolean> {
  const { found, head, behind } = yield* flight({
    found:
      sql`SELECT topics, run, task, queue, since_pos FROM sluice_listener WHERE id = ${from.listener}${forUpdate}`.as(
        knownRow,
      ),
    head: lockHead,
    behind: selectBehind(from.position),
  });
  const [known] = found;
  const { last, swept } = only(head);
  if (!known || known.since === null || from.position < known.since) return false;
  if (from.position < swept || from.position > last) return false;
  if (!covers(known, listener)) return false;
  yield* commit(insertListeners([listener], from.position, behind[0]));
  return true;
}

export function* renew(listeners: readonly Renewal[], readUpTo: number): Flow<ReadonlySet<string>> {
  const ids = listeners.map(({ id }) => id);
  const { there, behind } = yield* flight({
    there: sql`SELECT id FROM sluice_listener WHERE id ${oneOf(ids)} ORDER BY id${forUpdate}`.as(idOf),
    behind: selectBehind(readUpTo),
  });
  const old = yield* flight(selectOld);
  const left = new Set(there);
  const renewed = listeners.filter(({ id }) => left.has(id));
  yield* commit([...renewals(renewed, behind[0] ?? 0), sweep(old, there)]);
  return left;
}

/** One statement for each keep time. A process has few of them. */
function renewals(listeners: readonly Renewal[], behindMs: number): Sql[] {
  return [...new Set(listeners.map(({ keepMs }) => keepMs))].map((keepMs) => {
    const ids = listeners.filter((listener) => listener.keepMs === keepMs).map(({ id }) => id);
    return sql`UPDATE sluice_listener SET keep_ms = ${keepBehind(keepMs, behindMs)}, until_at = ${until(keepMs)} WHERE id ${oneOf(ids)}`;
  });
}

export function* close(listeners: readonly string[]): Flow<void> {
  yield* commit(sql`DELETE FROM sluice_listener WHERE id ${oneOf(listeners)}`);
}
