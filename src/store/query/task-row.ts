/** The row of a task: its columns, its place, and its decoder. */
import type { Flow } from "../flow.ts";
import type { Move } from "../in-line.ts";
import { inLineSince } from "../in-line.ts";
import type { Row } from "../row.ts";
import { int, intOrNull, text, textOrNull, word } from "../row.ts";
import type { Sql } from "../sql.ts";
import { raw, sql } from "../sql.ts";
import type { TaskRow } from "../store.ts";
import type { ToldRow } from "./in-line.ts";
import { firstTold, selectFirstTold, withMoves } from "./in-line.ts";
import { joinPlaces, stateFrom } from "./place.ts";

export const TASK_STATE = raw(stateFrom("'unknown'"));

const SELECT = sql`SELECT t.id, t.name, t.queue, t.lane, t.asks, t.priority, t.input, t.options, t.idem_key, t.created_at, ${TASK_STATE} AS state,
   COALESCE(o.attempt, r.attempt, w.attempt, d.attempt) AS attempt, COALESCE(o.losses, r.losses, w.losses, d.losses) AS losses,
   COALESCE(o.finished_at, r.claimed_at, w.at, d.at) AS at, COALESCE(r.session, o.session) AS session, COALESCE(r.epoch, o.epoch) AS epoch, t.good_until, r.held, r.progress, o.body, ${selectFirstTold} FROM sluice_task t ${raw(joinPlaces("t.id"))}`;

/** Tasks `t`. `rest` follows the FROM clause. */
export const selectTasks = (rest: Sql): Sql<ToldTask> =>
  sql`${SELECT} ${rest}`.as((row) => ({ unit: text(row.id), first: firstTold(row), row: taskRow(row) }));

export const selectTask = (id: string): Sql<ToldTask> => selectTasks(sql`WHERE t.id = ${id}`);

/** A task's own rows have its place in line. Only its history says since when it has been there. */
type ToldTask = ToldRow<TaskRow>;

/** Completes the rows of tasks. Only a waiting task can have come back, so only waiting tasks need their history. */
export const taskRows = (found: readonly ToldTask[]): Flow<TaskRow[]> =>
  withMoves(
    found.map((told) => (told.row.state === "waiting" ? told : { ...told, first: 0 })),
    withSince,
  );

const withSince = (task: TaskRow, moves: readonly Move[]): TaskRow =>
  moves.length === 0 ? task : { ...task, since: inLineSince(task.at, moves) };

/** A task that is in no place has no attempt and no time. The doctor reports it. */
const taskRow = (row: Row): TaskRow => ({
  id: text(row.id),
  name: text(row.name),
  queue: text(row.queue),
  lane: text(row.lane),
  asks: text(row.asks),
  priority: int(row.priority),
  state: word(row.state),
  input: text(row.input),
  options: text(row.options),
  key: textOrNull(row.idem_key),
  attempt: intOrNull(row.attempt) ?? 0,
  losses: intOrNull(row.losses) ?? 0,
  createdAt: int(row.created_at),
  at: intOrNull(row.at) ?? 0,
  since: intOrNull(row.at) ?? 0,
  session: textOrNull(row.session),
  epoch: intOrNull(row.epoch),
  goodUntil: intOrNull(row.good_until),
  holds: intOrNull(row.held) === 1,
  progress: textOrNull(row.progress),
  body: textOrNull(row.body),
});
