/** Runs as the decision sees them. They are read under their locks, in a later statement than the locks. */
import { portion } from "../../core/run/load.ts";
import { storedOptions } from "../../core/unit-options.ts";
import type { Flow } from "../flow.ts";
import { flight, send } from "../flow.ts";
import type { LaneSpec } from "../lane.ts";
import type { Row } from "../row.ts";
import { flag, idOf, int, intOrNull, text, textOrNull, word, wordOrNull } from "../row.ts";
import type { RunSeen, StepSeen, StepState } from "../runs.ts";
import { RUNS } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { forUpdate, oneOf, raw, sizeOf, sql, throughKey } from "../sql.ts";
import type { NewsRow } from "./news.ts";
import { isStillStopping } from "./stopping.ts";

const lockRuns = (ids: readonly string[]): Sql<string> =>
  sql`SELECT id FROM sluice_run WHERE id ${oneOf(ids)} ORDER BY id${forUpdate}`.as(idOf);

/** Recovery takes claims away without the run's lock, but skips locked claims. So the claims are locked too. */
const lockClaimsOf = (ids: readonly string[]): Sql<string> =>
  sql`SELECT id FROM sluice_running WHERE id ${oneOf(ids)} AND session = ${RUNS} ORDER BY id${forUpdate}`.as(
    idOf,
  );

/** Runs that are locked. */
interface Locked {
  /** To be looked at now. */
  readonly now: readonly string[];
  /** Their inputs and graphs are too large to be read together with those of the others. */
  readonly later: readonly string[];
  /** The size of each run that is too large to be read at all. */
  readonly unread: ReadonlyMap<string, number>;
}

/**
 * Locks the rows of the runs and their claims. Inputs and graphs never change, so their sizes can be read at
 * the same time.
 */
export function* lockAll(ids: readonly string[], most: number): Flow<Locked> {
  const { sizes } = yield* flight({ locks: [lockRuns(ids), lockClaimsOf(ids)], sizes: selectSizes(ids) });
  const size = new Map(sizes.map((each) => [each.id, each.size]));
  return { ...portion(ids, size, most), unread: new Map([...size].filter(([, own]) => own > most)) };
}

const selectSizes = (ids: readonly string[]): Sql<{ readonly id: string; readonly size: number }> =>
  sql`SELECT u.id, ${sizeOf("t.input")} + ${sizeOf("g.body")} AS size FROM sluice_run u JOIN sluice_task t ON t.id = u.id JOIN sluice_graph g ON g.hash = u.graph WHERE u.id ${oneOf(ids)}`.as(
    (row) => ({ id: text(row.id), size: int(row.size) }),
  );

interface RunInProgress {
  readonly id: string;
  /** Without the fields that come from other rows. */
  readonly run: Omit<RunSeen, "steps" | "failed">;
  readonly lane: LaneSpec;
}

/** The inputs and graphs of runs in `unread` are left out. */
const selectRuns = (ids: readonly string[], unread: readonly string[]): Sql<RunInProgress> =>
  sql`SELECT u.id, u.graph AS graph_id, c.epoch, c.started_at, c.held, u.began_at, u.paused, u.rerun_of, t.priority, ${unless(unread, "t.input")} AS input, t.options, ${unless(unread, "g.body")} AS graph, t.lane, t.queue, t.name, t.asks
    FROM sluice_run u JOIN sluice_running c ON c.id = u.id JOIN sluice_task t ON t.id = u.id JOIN sluice_graph g ON g.hash = u.graph
    WHERE u.id ${oneOf(ids)} AND c.session = ${RUNS} ORDER BY u.id`.as(runInProgress);

const unless = (unread: readonly string[], column: string): Sql =>
  unread.length === 0 ? raw(column) : sql`CASE WHEN u.id ${oneOf(unread)} THEN '' ELSE ${raw(column)} END`;

const runInProgress = (row: Row): RunInProgress => ({
  id: text(row.id),
  run: runOf(row),
  lane: laneSpec(row),
});

const runOf = (row: Row): RunInProgress["run"] => ({
  id: text(row.id),
  epoch: int(row.epoch),
  started: intOrNull(row.started_at) !== null,
  holds: flag(row.held),
  resumes: intOrNull(row.started_at) === null && intOrNull(row.began_at) !== null,
  paused: flag(row.paused),
  priority: int(row.priority),
  input: text(row.input),
  options: text(row.options),
  graph: text(row.graph),
  graphId: text(row.graph_id),
  rerunOf: storedOptions(text(row.options)).fromNothing ? null : textOrNull(row.rerun_of),
});

const laneSpec = (row: Row): LaneSpec => ({
  id: text(row.lane),
  queue: text(row.queue),
  task: text(row.name),
  asks: text(row.asks),
});

/**
 * Items are left while a unit of their lane is in line, delayed or running. Their outcomes are not read here.
 * The line is read from its end, because rows claimed long ago may still lie dead at the front of
 * PostgreSQL's index. EXISTS is avoided, because PostgreSQL may evaluate it by reading the whole table once
 * into a hash.
 */
const LEFT = sql`CASE WHEN s.lane IS NULL OR s.state <> 'open' THEN 0 WHEN (SELECT w.id FROM sluice_waiting w WHERE w.lane = s.lane ORDER BY w.precedence DESC, w.at DESC, w.id DESC LIMIT 1) IS NOT NULL THEN 1
   WHEN (SELECT r.id FROM sluice_running r WHERE ${throughKey("r.id")} AND r.lane = s.lane LIMIT 1) IS NOT NULL THEN 1
   WHEN (SELECT d.id FROM sluice_later d WHERE d.lane = s.lane LIMIT 1) IS NOT NULL THEN 1 ELSE 0 END`;

const selectSteps = (ids: readonly string[]): Sql<{ readonly run: string; readonly step: StepSeen }> =>
  sql`SELECT s.run, s.name, s.state, s.unit, CASE WHEN s.state = 'skipped' THEN s.body WHEN o.state = 'cancelled' THEN o.body ELSE NULL END AS body, o.state AS ended, w.state AS answer, s.lane, s.total, s.created, ${LEFT} AS left_over FROM sluice_step s
    LEFT JOIN sluice_outcome o ON o.id = s.unit AND s.state = 'open' LEFT JOIN sluice_wait w ON w.run = s.run AND w.step = s.name AND s.state = 'open' WHERE s.run ${oneOf(ids)} ORDER BY s.run, s.name`.as(
    (row) => ({ run: text(row.run), step: stepSeen(row) }),
  );

const stepSeen = (row: Row): StepSeen => ({
  name: text(row.name),
  state: word(row.state),
  unit: textOrNull(row.unit),
  body: textOrNull(row.body),
  ended: wordOrNull(row.ended),
  answer: wordOrNull(row.answer),
  fan:
    row.lane === null
      ? null
      : {
          lane: text(row.lane),
          total: int(row.total),
          created: int(row.created),
          left: flag(row.left_over),
        },
});

/** A run that is over and has no stopping units. `epoch` is that of the claim that it still holds. */
interface RunOver {
  readonly id: string;
  readonly isRoot: boolean;
  readonly epoch: number | null;
  readonly lane: LaneSpec;
}

/** Read under the run's lock, so a unit that stops later leaves news that is read later. */
const selectOver = (ids: readonly string[]): Sql<RunOver> =>
  sql`SELECT o.id, u.root, c.epoch, t.lane, t.queue, t.name, t.asks FROM sluice_outcome o JOIN sluice_task t ON t.id = o.id JOIN sluice_run u ON u.id = o.id
    LEFT JOIN sluice_stopping c ON c.id = o.id AND c.session = ${RUNS} WHERE o.id ${oneOf(ids)} AND COALESCE(c.because, '') <> 'parent' AND NOT ${isStillStopping("o.id")} ORDER BY o.id`.as(
    (row) => ({
      id: text(row.id),
      isRoot: row.root === null,
      epoch: intOrNull(row.epoch),
      lane: laneSpec(row),
    }),
  );

/** A run that ended as a unit of its parent, and whose own units have not been ended. */
interface RunCut {
  readonly id: string;
  readonly epoch: number;
}

const selectCut = (ids: readonly string[]): Sql<RunCut> =>
  sql`SELECT c.id, c.epoch FROM sluice_stopping c WHERE c.id ${oneOf(ids)} AND c.because = 'parent' ORDER BY c.id`.as(
    (row) => ({ id: text(row.id), epoch: int(row.epoch) }),
  );

/** The steps of the child that each of these runs repeats. */
const selectEarlier = (ids: readonly string[]) =>
  sql`SELECT u.id AS run, s.name, s.state FROM sluice_run u JOIN sluice_step s ON s.run = u.rerun_of WHERE u.id ${oneOf(ids)} ORDER BY u.id, s.name`.as(
    (row) => ({ run: text(row.run), step: { name: text(row.name), state: word<StepState>(row.state) } }),
  );

/** A child that repeats an earlier one and has not started. */
const repeats = ({ run }: RunInProgress): boolean =>
  !run.started && run.rerunOf !== null && storedOptions(run.options).scope !== undefined;

interface RunsSeen {
  readonly runs: readonly RunSeen[];
  readonly over: readonly RunOver[];
  readonly cut: readonly RunCut[];
  /** The lanes of all these runs, by run. */
  readonly lanes: ReadonlyMap<string, LaneSpec>;
}

export function* seeRuns({ now: ids, unread }: Locked, news: readonly NewsRow[]): Flow<RunsSeen> {
  const { found, steps, over, cut } = yield* flight({
    found: selectRuns(ids, [...unread.keys()]),
    steps: selectSteps(ids),
    over: selectOver(ids),
    cut: selectCut(ids),
  });
  const repeating = found.filter(repeats).map(({ id }) => id);
  const earlier = yield* send(repeating.length > 0 && selectEarlier(repeating));
  return {
    runs: found.map(({ id, run }) => ({
      ...run,
      ...unreadOf(unread.get(id)),
      steps: steps.filter((each) => each.run === id).map(({ step }) => step),
      failed: failedOf(id, news),
      ...(repeating.includes(id)
        ? { earlier: earlier.filter((each) => each.run === id).map(({ step }) => step) }
        : {}),
    })),
    over,
    cut,
    lanes: new Map([...found, ...over].map(({ id, lane }) => [id, lane])),
  };
}

const unreadOf = (size: number | undefined): Pick<RunSeen, "unread"> =>
  size === undefined ? {} : { unread: size };

/** Steps with items that did not succeed, according to the news. */
function failedOf(id: string, news: readonly NewsRow[]): string[] {
  const failed = news.flatMap(({ run, failed }) => (run === id && failed !== null ? [failed] : []));
  return [...new Set(failed)].sort();
}
