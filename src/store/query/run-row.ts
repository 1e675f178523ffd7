/** The row of a run: its columns, its place, and its decoder. */
import type { Row } from "../row.ts";
import { flag, int, intOrNull, text, textOrNull, word } from "../row.ts";
import type { RunRow } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { by, raw, sql } from "../sql.ts";
import { joinPlaces, RUN_STATE } from "./place.ts";

const SELECT =
  raw(`SELECT u.id, u.workflow, u.tags, u.source, u.namespace, u.rerun_of, COALESCE((SELECT top.paused FROM sluice_run top WHERE top.id = u.root), u.paused) AS paused, u.root, u.parent, u.depth, t.step, t.item, t.priority, t.input, t.idem_key, t.created_at, ${RUN_STATE} AS state, d.id AS later_id,
   COALESCE(w.at, d.at, c.at, t.created_at) AS queued_at, COALESCE(c.claimed_at, o.claimed_at) AS dequeued_at,
   COALESCE(c.started_at, u.began_at, `);

const FIRST_UNIT = "(SELECT MIN(x.created_at) FROM sluice_task x WHERE x.run = u.id)";
/** `slash` and `zero` are the ID of the run with the characters that enclose the subjects of its waits. */
const firstWait = (slash: string, zero: string): string =>
  `(SELECT MIN(e.at) FROM sluice_event e WHERE e.subject >= ${slash} AND e.subject < ${zero})`;
const PIPED = firstWait("u.id || '/'", "u.id || '0'");
const JOINED = firstWait("CONCAT(u.id, '/')", "CONCAT(u.id, '0')");
const earlier = (smaller: string, a: string, b: string): string =>
  `${smaller}(COALESCE(${a}, ${b}), COALESCE(${b}, ${a}))`;

/** When the claim is gone, the run's units and waits still tell when it started. */
const STARTED = by({
  postgres: earlier("LEAST", FIRST_UNIT, PIPED),
  sqlite: earlier("MIN", FIRST_UNIT, PIPED),
  mysql: earlier("LEAST", FIRST_UNIT, JOINED),
});

const FROM = raw(
  `) AS started_at, o.finished_at, o.body FROM sluice_run u JOIN sluice_task t ON t.id = u.id ${joinPlaces("u.id", "c")}`,
);

/** Runs `u`. `rest` follows the FROM clause. */
export const selectRuns = (rest: Sql): Sql<RunRow> => sql`${SELECT}${STARTED}${FROM} ${rest}`.as(runRow);

const runRow = (row: Row): RunRow => ({
  id: text(row.id),
  workflow: text(row.workflow),
  state: word(row.state),
  paused: flag(row.paused),
  later: row.later_id !== null,
  priority: int(row.priority),
  tags: text(row.tags),
  source: text(row.source),
  namespace: text(row.namespace),
  rerunOf: textOrNull(row.rerun_of),
  root: textOrNull(row.root),
  parent: textOrNull(row.parent),
  depth: int(row.depth),
  step: textOrNull(row.step),
  item: intOrNull(row.item),
  input: text(row.input),
  key: textOrNull(row.idem_key),
  createdAt: int(row.created_at),
  queuedAt: int(row.queued_at),
  dequeuedAt: intOrNull(row.dequeued_at),
  startedAt: intOrNull(row.started_at),
  finishedAt: intOrNull(row.finished_at),
  body: textOrNull(row.body),
});
