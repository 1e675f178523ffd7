/**
 * Advances runs: read some news, lock its runs in one order, look at their steps in a later statement,
 * decide, write. Only the holder of a run's lock writes its steps, so a step is put in line once, however
 * many units end at the same moment and however often that is reported.
 *
 * Locks: news, runs by id, topics by name, then the rows that are written. Nothing here waits for a gate while it holds a
 * unit. The exceptions are a new run's own gates, which no other transaction knows yet, and the gates of a
 * run that is over, whose units are gone and whose code has stopped.
 */
import { MOST_LOADED } from "../../core/run/load.ts";
import type { Flow } from "../flow.ts";
import { commit, flight } from "../flow.ts";
import type { Advanced, DecideRuns, RunMove, RunSeen } from "../runs.ts";
import type { Dialect } from "../sql.ts";
import { deleteNews, insertNewsOfRuns, selectNews } from "./news.ts";
import { gather, gathered } from "./results.ts";
import { sweep } from "./run-end.ts";
import { writesOf } from "./run-move.ts";
import { lockAll, seeRuns } from "./run-seen.ts";
import { releaseClaims } from "./stopping.ts";
import { selectListening } from "./tell.ts";
import { sentBefore } from "./wait-begin.ts";

export interface HowToAdvance {
  readonly dialect: Dialect;
  /** The most bytes of inputs and graphs that are read at once. */
  readonly most?: number;
}

/** With `which`, reads only the news of these runs. */
export function* advance(
  decide: DecideRuns,
  { dialect, most = MOST_LOADED }: HowToAdvance,
  which?: readonly string[],
): Flow<Advanced> {
  const { news, listening } = yield* flight({ news: selectNews(which), listening: selectListening() });
  if (news.length === 0) return { news: 0, enqueued: 0, freed: [] };
  const ids = [...new Set(news.map(({ run }) => run))].sort();
  const locked = yield* lockAll(ids, most);
  const { runs, over, lanes } = yield* seeRuns(locked, news);
  const byRun = new Map(runs.map((run) => [run.id, run]));
  const { moves: wanted, later = [] } = runs.length > 0 ? yield* decided(decide, runs) : { moves: [] };
  const waiting = new Set([...locked.later, ...later]);
  const moves = wanted.filter(({ run, epoch }) => byRun.get(run)?.epoch === epoch);
  const taken = yield* sentBefore(moves);
  const ended = moves.flatMap(({ run, finish }) => (finish ? [run] : []));
  const resting = moves.flatMap(({ run, claim }) => (claim === null ? [] : [run]));
  // The last look at a run removes what only that run needed.
  const again = [...ended, ...moves.flatMap((move) => (move.again ? [move.run] : []))];
  // Runs whose last unit has stopped after their end. Other runs released their slots when they ended.
  const stopped = over.flatMap(({ id, epoch }) => (epoch === null ? [] : [{ id, epoch }]));
  yield* commit([
    stopped.length > 0 && releaseClaims(stopped.map(({ epoch }) => epoch)),
    // The sweep comes before any other write: a pass that holds arrivals may want the rows that are written
    // here.
    sweep(over.map(({ id }) => id)),
    moves.map((move) =>
      writesOf(move, byRun.get(move.run), { dialect, quiet: listening.length === 0 }, taken),
    ),
    deleteNews(news.flatMap(({ run, seq }) => (waiting.has(run) ? [] : [seq]))),
    again.length > 0 && insertNewsOfRuns(again),
  ]);
  return {
    news: news.length,
    enqueued: moves.reduce((sum, { enqueue }) => sum + enqueue.length, 0),
    freed: [...ended, ...resting, ...stopped.map(({ id }) => id)].flatMap((run) => lanes.get(run) ?? []),
  };
}

interface Decided {
  readonly moves: readonly RunMove[];
  readonly later?: readonly string[];
}

function* decided(decide: DecideRuns, runs: readonly RunSeen[]): Flow<Decided> {
  const results = gathered();
  for (;;) {
    const answer = decide(runs, results);
    if ("moves" in answer) return answer;
    yield* gather(answer.read, results);
  }
}
