/**
 * The history of a subject (a task, a lane, a gate): one event per transition, numbered without gaps. Facts
 * in a task's own rows are not written again: its body has the enqueue, and its claim and outcome have the
 * last claim and the end. Everything else is a row here.
 */

import type { EventKind } from "../../core/event.ts";
import type { Flow } from "../flow.ts";
import { flight } from "../flow.ts";
import { inPortions } from "../portions.ts";
import type { Row } from "../row.ts";
import { int, intOrNull, text, textOrNull, word } from "../row.ts";
import type { Sql } from "../sql.ts";
import { by, now, raw, rows, sql } from "../sql.ts";
import type { EventRow, FinalState } from "../store.ts";

/** A type and not an interface, because its fields are read by column name. */
export type NewEvent = {
  readonly subject: string;
  readonly n: number;
  readonly kind: EventKind;
  readonly data: string | null;
};

export const insertEvents = (events: readonly NewEvent[]): Sql[] =>
  inPortions(
    events,
    (portion) =>
      sql`INSERT INTO sluice_event (subject, n, kind, at, data) SELECT e.subject, e.n, e.kind, ${now}, e.data FROM ${rows("e", EVENT, portion)}`,
  );

const EVENT = { subject: "text", n: "int", kind: "text", data: "text" } as const;

/** Builds JSON text from columns. Only for values that need no escaping, such as numbers and our own ids. */
function concat(...terms: readonly string[]): Sql {
  const joined = raw(terms.join(" || "));
  return by({ postgres: joined, sqlite: joined, mysql: raw(`CONCAT(${terms.join(", ")})`) });
}

/** The data of a claim's event, from its row. */
/** `asks` is the column of a lane's asks, for a step that has taken its slots. */
export const claimedData = (row: string, asks?: string): Sql =>
  concat(
    `'{"attempt":'`,
    `${row}.attempt`,
    `',"epoch":'`,
    `${row}.epoch`,
    `',"session":"'`,
    `${row}.session`,
    ...(asks === undefined ? [`'"}'`] : [`'","asks":'`, asks, `'}'`]),
  );

/** Writes an outcome's facts as events before the outcome is deleted. */
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

/** The kind of the event that an outcome implies. */
export const kindOfOutcome = (row: string): Sql =>
  raw(
    `CASE ${row}.state ${Object.entries(FINAL)
      .map(([state, kind]) => `WHEN '${state}' THEN '${kind}'`)
      .join(" ")} ELSE ${row}.state END`,
  );

export const kindOfEnd = (state: FinalState): string => FINAL[state];

/** The number of a subject's last event, or 0. Always one row. */
export const selectLastEvent = (subject: string): Sql<number> =>
  sql`SELECT COALESCE(max(n), 0) AS n FROM sluice_event WHERE subject = ${subject}`.as(({ n }) => int(n));

/** The whole history: the written events, and those implied by the task's own rows. */
export function* history(subject: string): Flow<EventRow[]> {
  const { written, enqueued, claimed, ended } = yield* flight({
    written:
      sql`SELECT subject, n, kind, at, data FROM sluice_event WHERE subject = ${subject} ORDER BY n`.as(
        eventRow,
      ),
    enqueued: sql`SELECT id, priority, created_at FROM sluice_task WHERE id = ${subject}`.as(enqueuedRow),
    claimed:
      sql`SELECT id, attempt, epoch, session, claimed_at, claimed_n FROM sluice_running WHERE id = ${subject}`.as(
        claimedEvent,
      ),
    ended:
      sql`SELECT id, state, attempt, epoch, session, claimed_at, claimed_n, body, finished_at, n FROM sluice_outcome WHERE id = ${subject}`.as(
        endedEvents,
      ),
  });
  const events = [
    ...written,
    ...enqueued.map((task) => enqueuedEvent(task, firstPriority(written) ?? task.priority)),
    ...claimed,
    ...ended.flat(),
  ];
  return events.sort((a, b) => a.n - b.n);
}

const eventRow = (row: Row): EventRow => ({
  subject: text(row.subject),
  n: int(row.n),
  kind: word(row.kind),
  at: int(row.at),
  data: textOrNull(row.data),
});

/** A body has the current priority. If it was changed, the first change has the original one. */
function firstPriority(written: readonly EventRow[]): number | undefined {
  const first = written.find(({ kind }) => kind === "TaskReprioritized");
  if (!first?.data) return undefined;
  const change: { readonly from: number } = JSON.parse(first.data);
  return change.from;
}

interface Enqueued {
  readonly id: string;
  readonly priority: number;
  readonly at: number;
}

const enqueuedRow = (row: Row): Enqueued => ({
  id: text(row.id),
  priority: int(row.priority),
  at: int(row.created_at),
});

const enqueuedEvent = ({ id, at }: Enqueued, priority: number): EventRow => ({
  subject: id,
  n: 1,
  kind: "TaskEnqueued",
  at,
  data: `{"priority":${priority}}`,
});

const claimedEvent = (row: Row): EventRow => ({
  subject: text(row.id),
  n: int(row.claimed_n),
  kind: "TaskClaimed",
  at: int(row.claimed_at),
  data: `{"attempt":${int(row.attempt)},"epoch":${int(row.epoch)},"session":"${text(row.session)}"}`,
});

/** An outcome implies its end, and also its last claim if it had one. */
function endedEvents(row: Row): EventRow[] {
  const state = text(row.state);
  const end: EventRow = {
    subject: text(row.id),
    n: int(row.n),
    kind: KINDS.get(state) ?? word(state),
    at: int(row.finished_at),
    data: state === "succeeded" ? null : textOrNull(row.body),
  };
  return intOrNull(row.claimed_n) === null ? [end] : [claimedEvent(row), end];
}

const KINDS: ReadonlyMap<string, EventKind> = new Map(Object.entries(FINAL));
