/**
 * Advances runs: read some news, lock its runs in one order, look at their steps in a later statement,
 * decide, write. Only the holder of a run's lock writes its steps, so a step is put in line once, however
 * many units end at the same moment and however often that is reported.
 *
 * Locks: news, runs by id, then the rows that are written. Nothing here waits for a gate while it holds a
 * unit. The exceptions are a new run's own gates, which no other transaction knows yet, and the gates of a
 * run that is over, whose units are gone and whose code has stopped.
 */
import type { Flow } from "../flow.ts";
import { commit, flight } from "../flow.ts";
import type { Row } from "../row.ts";
import { int, text, textOrNull, word } from "../row.ts";
import type { Advance, Advanced, ItemSeen, Reading, Results, RunMove, RunSeen, StepKey } from "../runs.ts";
import { keyOfStep } from "../runs.ts";
import type { Dialect, Sql } from "../sql.ts";
import { oneOf, sql } from "../sql.ts";
import { deleteNews, insertNewsOfRuns, selectNews } from "./news.ts";
import { sweep } from "./run-end.ts";
import { writesOf } from "./run-move.ts";
import { lockAll, seeRuns } from "./run-seen.ts";
import { releaseClaims } from "./stopping.ts";
import { selectListening } from "./tell.ts";

type Decide = (runs: readonly RunSeen[], results: Results) => Advance;

/** With `which`, reads only the news of these runs. */
export function* advance(decide: Decide, dialect: Dialect, which?: readonly string[]): Flow<Advanced> {
  const { news, listening } = yield* flight({ news: selectNews(which), listening: selectListening() });
  if (news.length === 0) return { news: 0, enqueued: 0, freed: [] };
  const ids = [...new Set(news.map(({ run }) => run))].sort();
  yield* lockAll(ids);
  const { runs, over, lanes } = yield* seeRuns(ids, news);
  const byRun = new Map(runs.map((run) => [run.id, run]));
  const wanted = runs.length > 0 ? yield* decided(decide, runs) : [];
  const moves = wanted.filter(({ run, epoch }) => byRun.get(run)?.epoch === epoch);
  const ended = moves.flatMap(({ run, finish }) => (finish ? [run] : []));
  // The last look at a run removes what only that run needed.
  const again = [...ended, ...moves.flatMap((move) => (move.again ? [move.run] : []))];
  // Runs whose last unit has stopped after their end. Other runs released their slots when they ended.
  const stopped = over.flatMap(({ id, epoch }) => (epoch === null ? [] : [{ id, epoch }]));
  yield* commit([
    stopped.length > 0 && releaseClaims(stopped.map(({ epoch }) => epoch)),
    // The sweep comes before any other write: a pass that holds arrivals may want the rows that are written
    // here.
    sweep(over.map(({ id }) => id)),
    moves.map((move) => writesOf(move, byRun.get(move.run), { dialect, quiet: listening.length === 0 })),
    deleteNews(news.map(({ seq }) => seq)),
    again.length > 0 && insertNewsOfRuns(again),
  ]);
  return {
    news: news.length,
    enqueued: moves.reduce((sum, { enqueue }) => sum + enqueue.length, 0),
    freed: [...ended, ...stopped.map(({ id }) => id)].flatMap((run) => lanes.get(run) ?? []),
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

interface Gathered {
  readonly units: Map<string, string | null>;
  readonly bodies: Map<string, string | null>;
  readonly items: Map<string, ItemSeen[]>;
}

/** A unit or step that was asked for and not found is recorded as missing. */
function* look({ units, bodies, items }: Reading, into: Gathered): Flow<void> {
  const found = yield* flight({
    units: selectResults(units),
    bodies: bodies.map(selectBody),
    // A list that is asked for twice is read once. Otherwise its items would appear twice.
    items: [...new Map(items.map((key) => [keyOfStep(key), key])).values()].map(selectItems),
  });
  for (const unit of units) into.units.set(unit, null);
  for (const { of, body } of found.units) into.units.set(of, body);
  for (const key of bodies) into.bodies.set(keyOfStep(key), null);
  for (const { of, body } of found.bodies) into.bodies.set(of, body);
  for (const key of items) into.items.set(keyOfStep(key), []);
  for (const { of, item } of found.items) into.items.get(of)?.push(item);
}

interface Body {
  /** A unit, or the key of a step. */
  readonly of: string;
  readonly body: string | null;
}

const selectResults = (units: readonly string[]): Sql<Body> =>
  sql`SELECT id, body FROM sluice_outcome WHERE state = 'succeeded' AND id ${oneOf(units)}`.as((row) => ({
    of: text(row.id),
    body: textOrNull(row.body),
  }));

const selectBody = (key: StepKey): Sql<Body> =>
  sql`SELECT body FROM sluice_step WHERE run = ${key.run} AND name = ${key.step}`.as((row) => ({
    of: keyOfStep(key),
    body: textOrNull(row.body),
  }));

const selectItems = (key: StepKey): Sql<{ readonly of: string; readonly item: ItemSeen }> =>
  sql`SELECT t.item, o.state, o.body FROM sluice_task t JOIN sluice_outcome o ON o.id = t.id WHERE t.run = ${key.run} AND t.step = ${key.step} AND t.item IS NOT NULL ORDER BY t.item`.as(
    (row) => ({ of: keyOfStep(key), item: itemSeen(row) }),
  );

const itemSeen = (row: Row): ItemSeen => ({
  item: int(row.item),
  state: word(row.state),
  body: textOrNull(row.body),
});
