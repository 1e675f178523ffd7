/**
 * Moving runs on: read some news, lock its runs in one order, look at their steps in a later statement, decide, write.
 * Only whoever has a run's lock writes its steps, so a step is put in line once, whoever ends at the same moment and
 * however often it is told.
 *
 * Locks: news, runs by id, then what is written. Nothing here waits for a gate while it holds a unit, except a new run's
 * own gates, which nobody else knows yet, and those of a run that is over, when its units are gone and their code has
 * stopped.
 */
import { inByteOrder } from "../../core/text.ts";
import { changesOfRun } from "../feed.ts";
import type { Flow, Row } from "../flow.ts";
import { flight, lastFlight } from "../flow.ts";
import type { LaneSpec } from "../lane.ts";
import type {
  Advance,
  Advanced,
  ItemSeen,
  Reading,
  Results,
  RunMove,
  RunSeen,
  StepKey,
  StepSeen,
} from "../runs.ts";
import { isFromNothing, keyOfStep, RUNS } from "../runs.ts";
import type { Dialect, Sql } from "../sql.ts";
import { by, forUpdate, now, oneOf, raw, rows, sql, throughKey } from "../sql.ts";
import type { FinalState } from "../store.ts";
import { insertTasks, putInLine } from "./enqueue.ts";
import { endItems, endRun, endUnitsOf } from "./expire.ts";
import { deleteNews, insertNewsOfRuns, selectNews } from "./news.ts";
import { isStillStopping, releaseClaims } from "./stopping.ts";
import { insertSteps } from "./submit.ts";
import { selectListening, tellEnqueued } from "./tell.ts";
import { tellRuns } from "./tell-others.ts";

type Decide = (runs: readonly RunSeen[], results: Results) => Advance;

/** `only`: news of these runs. */
export function* advance(decide: Decide, dialect: Dialect, only?: readonly string[]): Flow<Advanced> {
  const [news = [], listening = []] = yield* flight(selectNews(only), selectListening());
  const quiet = listening.length === 0;
  if (news.length === 0) return { news: 0, enqueued: 0, freed: [] };
  const ids = [...new Set(news.map((row) => row.run as string))].sort();
  yield* flight(lockRuns(ids), lockClaimsOf(ids));
  const [found = [], steps = [], over = []] = yield* flight(
    selectRuns(ids),
    selectSteps(ids),
    selectOver(ids),
  );
  const runs = found.map((row) => runSeen(row, steps, news));
  const epochs = new Map(runs.map(({ id, epoch }) => [id, epoch]));
  const wanted = runs.length > 0 ? yield* decided(decide, runs) : [];
  const moves = wanted.filter(({ run, epoch }) => epochs.get(run) === epoch);
  const ended = moves.flatMap(({ run, finish }) => (finish ? [run] : []));
  // The last look at a run clears away what only it needed.
  const again = [...ended, ...moves.flatMap((move) => (move.again ? [move.run] : []))];
  const lanes = new Map([...found, ...over].map((row) => [row.id as string, laneSpec(row)]));
  // Those whose last unit has stopped since their end. The others have let go of their slots with their end.
  const stopped = over.filter((row) => row.epoch !== null);
  yield* lastFlight(
    ...(stopped.length > 0 ? [releaseClaims(stopped.map((row) => Number(row.epoch)))] : []),
    // Before anything is written: a pass that has arrivals in hand may want what is written here.
    ...sweep(over.map((row) => row.id as string)),
    ...moves.flatMap((move) => writes(move, runs, dialect, quiet)),
    deleteNews(news.map((row) => Number(row.seq))),
    ...(again.length > 0 ? [insertNewsOfRuns(again)] : []),
  );
  return {
    news: news.length,
    enqueued: moves.reduce((sum, { enqueue }) => sum + enqueue.length, 0),
    freed: [...ended, ...stopped.map((row) => row.id as string)].flatMap((run) => lanes.get(run) ?? []),
  };
}

function* decided(decide: Decide, runs: readonly RunSeen[]): Flow<readonly RunMove[]> {
  const results = { units: new Map(), bodies: new Map(), items: new Map() };
  for (;;) {
    const answer = decide(runs, results);
    if ("moves" in answer) return answer.moves;
    yield* look(answer.read, results);
  }
}

const UNITS = "SELECT id, body FROM sluice_outcome WHERE state = 'succeeded' AND id";

/** What was asked for and is not there is known to be missing then. */
function* look(
  { units, bodies, items }: Reading,
  into: {
    readonly units: Map<string, string | null>;
    readonly bodies: Map<string, string | null>;
    readonly items: Map<string, ItemSeen[]>;
  },
): Flow<void> {
  const [found = [], ...rest] = yield* flight(
    sql`${raw(UNITS)} ${oneOf(units)}`,
    ...bodies.map(({ run, step }) => sql`SELECT body FROM sluice_step WHERE run = ${run} AND name = ${step}`),
    ...items.map(selectItems),
  );
  for (const unit of units) into.units.set(unit, null);
  for (const row of found) into.units.set(row.id as string, row.body as string | null);
  bodies.forEach((key, index) => {
    into.bodies.set(keyOfStep(key), (rest[index]?.[0]?.body as string | null | undefined) ?? null);
  });
  items.forEach((key, index) => {
    into.items.set(keyOfStep(key), (rest[bodies.length + index] ?? []).map(itemSeen));
  });
}

const selectItems = ({ run, step }: StepKey): Sql =>
  sql`SELECT t.item, o.state, o.body FROM sluice_task t JOIN sluice_outcome o ON o.id = t.id WHERE t.run = ${run} AND t.step = ${step} AND t.item IS NOT NULL ORDER BY t.item`;

const itemSeen = (row: Row): ItemSeen => ({
  item: Number(row.item),
  state: row.state as FinalState,
  body: row.body as string | null,
});

const lockRuns = (ids: readonly string[]): Sql =>
  sql`SELECT id FROM sluice_run WHERE id ${oneOf(ids)} ORDER BY id${forUpdate}`;

/** Recovery takes a claim away without the run's lock; it passes over those that somebody has in hand. */
const lockClaimsOf = (ids: readonly string[]): Sql =>
  sql`SELECT id FROM sluice_running WHERE id ${oneOf(ids)} AND session = ${RUNS} ORDER BY id${forUpdate}`;

const selectRuns = (ids: readonly string[]): Sql =>
  sql`SELECT u.id, c.epoch, c.started_at, u.paused, u.rerun_of, t.priority, t.input, t.options, g.body AS graph, t.lane, t.queue, t.name, t.asks
    FROM sluice_run u JOIN sluice_running c ON c.id = u.id JOIN sluice_task t ON t.id = u.id JOIN sluice_graph g ON g.hash = u.graph
    WHERE u.id ${oneOf(ids)} AND c.session = ${RUNS} ORDER BY u.id`;

/**
 * Items are somewhere while one of their lane is in line, delayed or at work. Their outcomes are not looked at here. The line
 * is looked at from its end: at its front, those claimed long ago may still lie, dead, in PostgreSQL's index. Nothing is asked
 * by EXISTS, for which PostgreSQL may read the whole table once and remember it.
 */
const LEFT = sql`CASE WHEN s.lane IS NULL OR s.state <> 'open' THEN 0 WHEN (SELECT w.id FROM sluice_waiting w WHERE w.lane = s.lane ORDER BY w.precedence DESC, w.at DESC, w.id DESC LIMIT 1) IS NOT NULL THEN 1
   WHEN (SELECT r.id FROM sluice_running r WHERE ${throughKey("r.id")} AND r.lane = s.lane LIMIT 1) IS NOT NULL THEN 1
   WHEN (SELECT d.id FROM sluice_later d WHERE d.lane = s.lane LIMIT 1) IS NOT NULL THEN 1 ELSE 0 END`;

const selectSteps = (ids: readonly string[]): Sql =>
  sql`SELECT s.run, s.name, s.state, s.unit, CASE WHEN s.lane IS NULL THEN s.body ELSE NULL END AS body, o.state AS ended, s.lane, s.total, s.created, ${LEFT} AS left_over FROM sluice_step s
    LEFT JOIN sluice_outcome o ON o.id = s.unit AND s.state = 'open' WHERE s.run ${oneOf(ids)} ORDER BY s.run, s.name`;

/** Under the run's lock, so whoever stops later leaves news that is read later. */
const selectOver = (ids: readonly string[]): Sql =>
  sql`SELECT o.id, c.epoch, t.lane, t.queue, t.name, t.asks FROM sluice_outcome o JOIN sluice_task t ON t.id = o.id
    LEFT JOIN sluice_stopping c ON c.id = o.id AND c.session = ${RUNS} WHERE o.id ${oneOf(ids)} AND NOT ${isStillStopping("o.id")} ORDER BY o.id`;

function runSeen(row: Row, steps: readonly Row[], news: readonly Row[]): RunSeen {
  const failed = news.flatMap((each) =>
    each.run === row.id && each.failed !== null ? [each.failed as string] : [],
  );
  return {
    id: row.id as string,
    epoch: Number(row.epoch),
    started: row.started_at !== null,
    paused: Number(row.paused) === 1,
    priority: Number(row.priority),
    input: row.input as string,
    graph: row.graph as string,
    steps: steps.filter(({ run }) => run === row.id).map(stepSeen),
    failed: [...new Set(failed)].sort(),
    rerunOf: isFromNothing(row.options as string) ? null : (row.rerun_of as string | null),
  };
}

const stepSeen = (row: Row): StepSeen => ({
  name: row.name as string,
  state: row.state as StepSeen["state"],
  unit: row.unit as string | null,
  body: row.body as string | null,
  ended: row.ended as FinalState | null,
  fan:
    row.lane === null
      ? null
      : {
          lane: row.lane as string,
          total: Number(row.total),
          created: Number(row.created),
          left: Number(row.left_over) === 1,
        },
});

const laneSpec = (row: Row): LaneSpec => ({
  id: row.lane as string,
  queue: row.queue as string,
  task: row.name as string,
  asks: row.asks as string,
});

function writes(move: RunMove, runs: readonly RunSeen[], dialect: Dialect, quiet: boolean): Sql[] {
  const { run, epoch, start, gates, steps, enqueue, finish } = move;
  const units = enqueue.map((unit) => ({ ...unit, run }));
  const timed = enqueue.filter(({ claimTimeoutMs }) => claimTimeoutMs !== null);
  return [
    ...(start ? began(run, epoch, start) : []),
    ...(gates.length > 0 ? [insertGates(run, gates)] : []),
    ...(steps.length > 0 ? [insertSteps(steps.map((step) => ({ run, ...step })))] : []),
    ...(units.length > 0 ? [insertTasks(units), ...putInLine(units)] : []),
    ...(timed.length > 0
      ? [insertTimers(timed.map(({ id, claimTimeoutMs }) => ({ id, kind: "claim", after: claimTimeoutMs })))]
      : []),
    ...(move.timers.length > 0
      ? [insertTimers(move.timers.map(({ lane, afterMs }) => ({ id: lane, kind: "items", after: afterMs })))]
      : []),
    ...(quiet ? [] : tellMove(move, runs)),
    ...move.endItems.flatMap((items) => endItems({ run, ...items }, dialect, quiet)),
    ...(finish ? finished({ id: run, epoch }, finish, dialect, quiet) : []),
  ];
}

/** That a run has started comes before its first steps. */
function tellMove(move: RunMove, runs: readonly RunSeen[]): Sql[] {
  const seen = runs.find(({ id }) => id === move.run);
  const units = move.enqueue.map(({ id }) => id);
  return [...tellRuns(changesOfRun(move, seen)), ...(units.length > 0 ? [tellEnqueued(units)] : [])];
}

function began(run: string, epoch: number, { gates, timeoutMs }: NonNullable<RunMove["start"]>): Sql[] {
  return [
    sql`UPDATE sluice_running SET started_at = ${now}, until_at = NULL WHERE id = ${run} AND epoch = ${epoch}`,
    ...(gates.length > 0 ? [insertGates(run, gates)] : []),
    ...(timeoutMs === null ? [] : [insertTimers([{ id: run, kind: "run", after: timeoutMs }])]),
  ];
}

/** A run's own gates are paused as it is. */
function insertGates(run: string, gates: RunMove["gates"]): Sql {
  const born = [...gates].sort((a, b) => inByteOrder(a.key, b.key));
  return sql`INSERT INTO sluice_gate (name, capacity, declared, line, paused) SELECT g.name, g.capacity, g.capacity, 'skip', u.paused FROM ${rows(
    "g",
    { name: "text", capacity: "int" },
    born.map(({ key, limit }) => ({ name: key, capacity: limit })),
  )} JOIN sluice_run u ON u.id = ${run} WHERE NOT EXISTS (SELECT 1 FROM sluice_gate k WHERE k.name = g.name)`;
}

/** What a run leaves behind when it ends, whichever way. */
export function finished(
  run: { readonly id: string; readonly epoch: number },
  { state, body }: NonNullable<RunMove["finish"]>,
  dialect: Dialect,
  quiet = false,
): Sql[] {
  return [
    ...endUnitsOf([run.id], { state: "cancelled", body: JSON.stringify({ by: "run" }) }, dialect, quiet),
    deleteTimersOf(run.id),
    ...endRun(run, { state, body }, dialect, quiet),
    ...(state === "succeeded" ? [recordSuccess(run.id)] : []),
  ];
}

export const deleteTimersOf = (run: string): Sql => {
  const steps = sql`SELECT t.id FROM sluice_task t WHERE t.run = ${run}`;
  const lists = sql`SELECT s.lane FROM sluice_step s WHERE s.run = ${run} AND s.lane IS NOT NULL`;
  const ofAll = sql`DELETE FROM sluice_timer WHERE id = ${run} OR id IN (${steps}) OR id IN (${lists})`;
  return by({
    // An "or" would keep PostgreSQL from the index.
    postgres: sql`DELETE FROM sluice_timer WHERE id IN (SELECT ${run} UNION ALL ${steps} UNION ALL ${lists})`,
    sqlite: ofAll,
    mysql: ofAll,
  });
};

const recordSuccess = (run: string): Sql =>
  sql`INSERT INTO sluice_success (workflow, run, at) SELECT u.workflow, u.id, ${now} FROM sluice_run u WHERE u.id = ${run} ${by(
    {
      postgres: "ON CONFLICT (workflow) DO UPDATE SET run = excluded.run, at = excluded.at",
      sqlite: "ON CONFLICT (workflow) DO UPDATE SET run = excluded.run, at = excluded.at",
      mysql: "ON DUPLICATE KEY UPDATE run = VALUES(run), at = VALUES(at)",
    },
  )}`;

const insertTimers = (
  timers: readonly { readonly id: string; readonly kind: string; readonly after: number | null }[],
): Sql =>
  sql`INSERT INTO sluice_timer (id, kind, at) SELECT m.id, m.kind, ${now} + m.after_ms FROM ${rows(
    "m",
    { id: "text", kind: "text", after_ms: "int" },
    timers.map(({ id, kind, after }) => ({ id, kind, after_ms: after })),
  )}`;

/**
 * Gates first and lanes then, as everywhere. A run's lanes are its own: each asks one of the run's gates. What its steps
 * announced goes before, or the next pass would bring both back.
 */
function sweep(runs: readonly string[]): Sql[] {
  return runs.flatMap((run) => [
    by({
      postgres: sql`DELETE FROM sluice_arrival WHERE seq > 0 AND lane IN (SELECT t.lane FROM sluice_task t WHERE t.run = ${run})`,
      sqlite: sql`DELETE FROM sluice_arrival WHERE lane IN (SELECT t.lane FROM sluice_task t WHERE t.run = ${run})`,
      mysql: sql`DELETE a FROM sluice_arrival a JOIN sluice_task t ON t.lane = a.lane WHERE t.run = ${run}`,
    }),
    sql`DELETE FROM sluice_aside WHERE lane IN (SELECT t.lane FROM sluice_task t WHERE t.run = ${run})`,
    sql`DELETE FROM sluice_gate WHERE name >= ${`run:${run}/`} AND name < ${`run:${run}0`}`,
    by({
      postgres: sql`DELETE FROM sluice_lane WHERE id IN (SELECT t.lane FROM sluice_task t WHERE t.run = ${run})`,
      sqlite: sql`DELETE FROM sluice_lane WHERE id IN (SELECT t.lane FROM sluice_task t WHERE t.run = ${run})`,
      mysql: sql`DELETE l FROM sluice_lane l JOIN sluice_task t ON t.lane = l.id WHERE t.run = ${run}`,
    }),
  ]);
}
