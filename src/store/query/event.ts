/**
 * The history of a subject (a task, a lane, a gate): one event per transition, numbered without gaps. What a task's
 * own rows tell is not written a second time: that it was enqueued stands in its body, its last claim and its end in
 * its claim and its outcome. Everything else is a row here.
 */
import type { Row } from "../flow.ts";
import type { Sql } from "../sql.ts";
import { by, now, raw, rows, sql } from "../sql.ts";
import type { EventRow, FinalState } from "../store.ts";

export interface NewEvent {
  readonly subject: string;
  readonly n: number;
  readonly kind: string;
  readonly data: string | null;
}

export function insertEvents(events: readonly NewEvent[]): Sql {
  const list = rows("e", { subject: "text", n: "int", kind: "text", data: "text" }, events);
  return sql`INSERT INTO sluice_event (subject, n, kind, at, data) SELECT e.subject, e.n, e.kind, ${now}, e.data FROM ${list}`;
}

/** JSON text built from columns: only for values that need no escaping, such as numbers and our own ids. */
function concat(...terms: readonly string[]): Sql {
  const joined = raw(terms.join(" || "));
  return by({ postgres: joined, sqlite: joined, mysql: raw(`CONCAT(${terms.join(", ")})`) });
}

/** The data of a claim's event, from its row. */
export const claimedData = (row: string): Sql =>
  concat(
    `'{"attempt":'`,
    `${row}.attempt`,
    `',"epoch":'`,
    `${row}.epoch`,
    `',"session":"'`,
    `${row}.session`,
    `'"}'`,
  );

/** What an outcome tells is written down before the outcome goes. */
export function archiveOutcome(id: string): Sql[] {
  return [
    sql`INSERT INTO sluice_event (subject, n, kind, at, data) SELECT r.id, r.claimed_n, 'TaskClaimed', r.claimed_at, ${claimedData("r")} FROM sluice_outcome r WHERE r.id = ${id} AND r.claimed_n IS NOT NULL`,
    sql`INSERT INTO sluice_event (subject, n, kind, at, data) SELECT r.id, r.n, ${kindOfOutcome("r")}, r.finished_at, CASE WHEN r.state = 'succeeded' THEN NULL ELSE r.body END FROM sluice_outcome r WHERE r.id = ${id}`,
  ];
}

const FINAL = {
  succeeded: "TaskSucceeded",
  failed: "TaskFailed",
  cancelled: "TaskCancelled",
  expired: "TaskExpired",
  quarantined: "TaskQuarantined",
} as const;

/** The kind of the event that an outcome stands for. */
export const kindOfOutcome = (row: string): Sql =>
  raw(
    `CASE ${row}.state ${Object.entries(FINAL)
      .map(([state, kind]) => `WHEN '${state}' THEN '${kind}'`)
      .join(" ")} ELSE ${row}.state END`,
  );

export const kindOfEnd = (state: FinalState): string => FINAL[state];

export const selectHistory = (subject: string): Sql[] => [
  sql`SELECT subject, n, kind, at, data FROM sluice_event WHERE subject = ${subject} ORDER BY n`,
  sql`SELECT id, priority, created_at FROM sluice_task WHERE id = ${subject}`,
  sql`SELECT id, attempt, epoch, session, claimed_at, claimed_n FROM sluice_running WHERE id = ${subject}`,
  sql`SELECT id, state, attempt, epoch, session, claimed_at, claimed_n, body, finished_at, n FROM sluice_outcome WHERE id = ${subject}`,
];

/** The whole history, from its rows and from what the task's own rows tell. */
export function history([written = [], task = [], running = [], outcome = []]: readonly Row[][]): EventRow[] {
  const events = [
    ...written.map(eventRow),
    ...task.map((row) => enqueued(row, firstPriority(written))),
    ...running.map(claimed),
    ...outcome.filter((row) => row.claimed_n !== null).map(claimed),
    ...outcome.map(ended),
  ];
  return events.sort((a, b) => a.n - b.n);
}

const eventRow = (row: Row): EventRow => ({ ...row, n: Number(row.n), at: Number(row.at) }) as EventRow;

/** A body has the priority of today; where it has changed, its first change tells the one before. */
function firstPriority(written: readonly Row[]): number | undefined {
  const first = written.find((row) => row.kind === "TaskReprioritized");
  return first && (JSON.parse(first.data as string) as { from: number }).from;
}

const enqueued = (row: Row, priority = Number(row.priority)): EventRow => ({
  subject: row.id as string,
  n: 1,
  kind: "TaskEnqueued",
  at: Number(row.created_at),
  data: `{"priority":${priority}}`,
});

const claimed = (row: Row): EventRow => ({
  subject: row.id as string,
  n: Number(row.claimed_n),
  kind: "TaskClaimed",
  at: Number(row.claimed_at),
  data: `{"attempt":${Number(row.attempt)},"epoch":${Number(row.epoch)},"session":"${row.session}"}`,
});

const ended = (row: Row): EventRow => ({
  subject: row.id as string,
  n: Number(row.n),
  kind: FINAL[row.state as keyof typeof FINAL] ?? String(row.state),
  at: Number(row.finished_at),
  data: row.state === "succeeded" ? null : (row.body as string | null),
});
