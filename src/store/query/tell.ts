/**
 * Records changes for the feed, as part of the transaction that makes them. Each statement records only
 * changes that a listener wants, and does nothing without a listener, so it can always be sent. It must come
 * after the statement that moves the unit: then a change has a higher number than every earlier change of the
 * same unit.
 */
import type { ChangeKind, Topic } from "../../core/change.ts";
import { TOPIC, topicOf } from "../../core/change.ts";
import { inPortions } from "../portions.ts";
import type { Row } from "../row.ts";
import { int } from "../row.ts";
import { RUNS } from "../runs.ts";
import type { Dialect, Sql } from "../sql.ts";
import { by, now, oneOf, raw, read, rows, sql, throughKey } from "../sql.ts";
import type { FinalState } from "../store.ts";
import type { HeldRow } from "./claim.ts";
import type { NewEvent } from "./event.ts";
import { claimedData, kindOfEnd, kindOfOutcome } from "./event.ts";

export const INTO = raw(
  "INSERT INTO sluice_change_new (kind, subject, n, run, step, item, task, queue, at, data)",
);

const telling = new WeakMap<Sql<unknown>, "alone" | "beside">();

/**
 * Whether a statement may have recorded something. If it does nothing else, PostgreSQL returns the rows that
 * it has recorded, and SQLite returns a row if there were any.
 */
export function mayHaveTold(statement: Sql<unknown>, answer: readonly Row[], dialect: Dialect): boolean {
  const how = telling.get(statement);
  return how === "beside" || (how === "alone" && (dialect === "mysql" || answer.length > 0));
}

/** Marks a statement that records in addition to something else. */
export function tellsBeside(statement: Sql): Sql {
  telling.set(statement, "beside");
  return statement;
}

export function tells(statement: Sql): Sql {
  const answering = sql`${statement}${by({ postgres: " RETURNING seq", sqlite: "", mysql: "" })}`;
  telling.set(answering, "alone");
  return answering;
}

/**
 * PostgreSQL locks the table as if a row of it were locked, and keeps that lock until the transaction ends. A
 * reader, such as a backup, takes a weaker one. See `door.ts`.
 */
const MARK = by({
  postgres: " AND NOT EXISTS (SELECT 1 FROM sluice_listener m WHERE false FOR KEY SHARE)",
  sqlite: "",
  mysql: "",
});

const FIRST = sql`SELECT x.topics FROM sluice_listener x WHERE ${throughKey("x.id")}${MARK} LIMIT 1`;

/** A condition. It goes through the door like every question for listeners. */
export const NOBODY_LISTENS = sql`(${FIRST}) IS NULL`;

/** One row if there is a listener, otherwise none. */
export const selectListening = (): Sql<number> => read(FIRST.as(({ topics }) => int(topics)));

/** The first half is evaluated once per statement, the second for each row. */
export const wanted = (
  topic: Topic,
  c: Readonly<Record<"run" | "subject" | "task" | "queue", string>>,
): Sql =>
  sql`(${FIRST}) IS NOT NULL AND EXISTS (SELECT 1 FROM sluice_listener x WHERE ${throughKey("x.id")} AND (x.topics & ${raw(String(TOPIC[topic]))}) <> 0 ${raw(
    `AND (x.run IS NULL OR x.run = ${c.run} OR x.run = ${c.subject}) AND (x.task IS NULL OR x.task = ${c.task}) AND (x.queue IS NULL OR x.queue = ${c.queue})`,
  )})`;

const OF_TASK = { run: "t.run", subject: "t.id", task: "t.name", queue: "t.queue" } as const;

interface Told {
  readonly kind: Sql;
  readonly n: Sql;
  readonly at: Sql;
  readonly data: Sql;
  readonly topic: Topic;
}

/** For units whose bodies are `t`. `from` must end with a condition. */
const ofUnits = ({ kind, n, at, data, topic }: Told, from: Sql): Sql =>
  sql`${INTO} SELECT ${kind}, t.id, ${n}, t.run, t.step, t.item, t.name, t.queue, ${at}, ${data} FROM ${from} AND ${wanted(topic, OF_TASK)}`;

const jsonOf = (before: string, column: string, after: string): Sql =>
  by({
    postgres: `'${before}' || ${column} || '${after}'`,
    sqlite: `'${before}' || ${column} || '${after}'`,
    mysql: `CONCAT('${before}', ${column}, '${after}')`,
  });

const PRIORITY = jsonOf('{"priority":', "t.priority", "}");

const ENQUEUED: Told = {
  kind: raw("'TaskEnqueued'"),
  n: raw("1"),
  at: raw("t.created_at"),
  data: PRIORITY,
  topic: "enqueued",
};

export const tellEnqueued = (ids: readonly string[]): Sql[] =>
  inPortions(ids, (some) => tells(ofUnits(ENQUEUED, sql`sluice_task t WHERE t.id ${oneOf(some)}`)));

/** Records claims made earlier in this transaction. The admission of a run has the data of its own kind. */
export const tellClaimed = (ids: readonly string[], session: string): Sql =>
  tells(
    ofUnits(
      {
        kind: raw("'TaskClaimed'"),
        n: raw("r.claimed_n"),
        at: raw("r.claimed_at"),
        data: sql`CASE WHEN t.queue = ${RUNS} THEN ${PRIORITY} ELSE ${claimedData("r")} END`,
        topic: "claimed",
      },
      sql`sluice_running r JOIN sluice_task t ON t.id = r.id WHERE r.id ${oneOf(ids)} AND r.session = ${session}`,
    ),
  );

/** Records units that this transaction has ended. */
export const tellEnded = (ids: readonly string[]): Sql =>
  tells(
    ofUnits(
      {
        kind: kindOfOutcome("o"),
        n: raw("o.n"),
        at: raw("o.finished_at"),
        data: raw("CASE WHEN o.state = 'succeeded' THEN NULL ELSE o.body END"),
        topic: "ended",
      },
      sql`sluice_outcome o JOIN sluice_task t ON t.id = o.id WHERE o.id ${oneOf(ids)}`,
    ),
  );

/** Records units that this transaction ends while it deletes them from `u`. */
export const tellEnding = (state: FinalState, body: Sql, from: Sql): Sql =>
  ofUnits(
    {
      kind: raw(`'${kindOfEnd(state)}'`),
      n: raw("u.n + 1"),
      at: now,
      data: state === "succeeded" ? raw("NULL") : body,
      topic: "ended",
    },
    from,
  );

const PLACE_N = raw(
  `COALESCE((SELECT w.n FROM sluice_waiting w WHERE w.id = e.subject), (SELECT d.n FROM sluice_later d WHERE d.id = e.subject))`,
);

/** A step tells which slots it took. */
const STARTED = sql`CASE WHEN t.run IS NULL THEN e.data ELSE ${jsonOf('{"asks":', "t.asks", "}")} END`;

/**
 * Records claims that took their slots in this transaction. A claim that could not take them has moved on and
 * is not recorded.
 */
export const tellStarted = (claims: readonly HeldRow[]): Sql =>
  tells(
    ofUnits(
      { kind: raw("e.kind"), n: raw("e.n"), at: raw("e.at"), data: STARTED, topic: "moved" },
      sql`sluice_running r JOIN sluice_event e ON e.subject = r.id AND e.n = r.n AND e.kind = 'TaskStarted' JOIN sluice_task t ON t.id = r.id
        WHERE r.id ${oneOf(claims.map(({ id }) => id))} AND r.epoch ${oneOf(claims.map(({ epoch }) => epoch))}`,
    ),
  );

/** Records the last event of units that this transaction has put back in line. */
export const tellMoved = (ids: readonly string[]): Sql =>
  tells(
    ofUnits(
      { kind: raw("e.kind"), n: raw("e.n"), at: raw("e.at"), data: raw("e.data"), topic: "moved" },
      sql`sluice_event e JOIN sluice_task t ON t.id = e.subject WHERE e.subject ${oneOf(ids)} AND e.n = ${PLACE_N}`,
    ),
  );

const EVENT = { subject: "text", n: "int", kind: "text", data: "text", i: "int" } as const;

/** A list is recorded in its own order. */
export const numbered = <T>(list: readonly T[]): (T & { readonly i: number })[] =>
  list.map((one, i) => ({ ...one, i }));
export const inOrder = (list: string): Sql => raw(` ORDER BY ${list}.i`);

/** Records events of units as they were written. */
export const tellEvents = (events: readonly NewEvent[]): Sql[] =>
  byTopic(events).flatMap(([topic, some]) =>
    inPortions(numbered(some), (list) =>
      tells(
        sql`${ofUnits(
          { kind: raw("e.kind"), n: raw("e.n"), at: now, data: raw("e.data"), topic },
          sql`${rows("e", EVENT, list)} JOIN sluice_task t ON t.id = e.subject WHERE 1 = 1`,
        )}${inOrder("e")}`,
      ),
    ),
  );

export function byTopic<T extends { readonly kind: ChangeKind }>(list: readonly T[]): [Topic, T[]][] {
  const topics = new Map<Topic, T[]>();
  for (const one of list) {
    const topic = topicOf(one.kind);
    if (topic !== null) topics.set(topic, [...(topics.get(topic) ?? []), one]);
  }
  return [...topics];
}
