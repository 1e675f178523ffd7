/** Advance: reads some news, shows the runs in progress, and writes what has to follow. */
import type { LaneSpec } from "../lane.ts";
import type { Advance, Advanced, Results, RunMove, RunSeen } from "../runs.ts";
import { current } from "./claim.ts";
import { claimOfRun, clearAway, endRun } from "./end-run.ts";
import { enqueue } from "./enqueue.ts";
import { someNews } from "./news.ts";
import { stepSeen, stepsOf } from "./step.ts";
import type { RunningRecord, Tables } from "./tables.ts";

type Decide = (runs: readonly RunSeen[], results: Results) => Advance;

export function advance(tables: Tables, now: number, decide: Decide): Advanced {
  const news = someNews(tables);
  const runs = [...new Set(news.map(({ run }) => run))].sort();
  const seen = runs.flatMap((run) => {
    const claim = claimOfRun(tables, run);
    return claim ? [runSeen(tables, claim)] : [];
  });
  const moves = seen.length > 0 ? decided(tables, seen, decide) : [];
  for (const run of runs) if (tables.outcome.has(run)) clearAway(tables, run);
  const valid = moves.filter(({ run, epoch }) => current(tables, { id: run, epoch }));
  const enqueued = valid.map((move) => apply(tables, now, move)).reduce((sum, count) => sum + count, 0);
  for (const { seq } of news) tables.news.delete(seq);
  const freed = valid.filter(({ finish }) => finish !== null).map(({ run }) => laneOfRun(tables, run));
  return { news: news.length, enqueued, freed };
}

/** Asked as often as it wants to read. */
function decided(tables: Tables, seen: readonly RunSeen[], decide: Decide): readonly RunMove[] {
  const results = new Map<string, string | null>();
  for (;;) {
    const answer = decide(seen, results);
    if ("moves" in answer) return answer.moves;
    for (const unit of answer.read) {
      const outcome = tables.outcome.get(unit);
      results.set(unit, outcome?.state === "succeeded" ? outcome.body : null);
    }
  }
}

function runSeen(tables: Tables, { id, epoch, startedAt }: RunningRecord): RunSeen {
  const run = tables.run.get(id);
  const task = tables.task.get(id);
  if (!run || !task) throw new Error(`a claim of ${id}, which is no run`);
  const { priority, input } = task;
  const graph = tables.graph.get(run.graph)?.body ?? "";
  const steps = stepsOf(tables, id).map((step) => stepSeen(tables, step));
  return { id, epoch, started: startedAt !== null, paused: run.paused, priority, input, graph, steps };
}

/** How many units it has put in line. */
function apply(tables: Tables, now: number, move: RunMove): number {
  const { run, start, steps, finish } = move;
  if (start) begin(tables, now, move, start);
  for (const { name, state, unit, body } of steps) tables.step.put({ run, name, state, unit, body });
  const answers = enqueue(
    tables,
    now,
    move.enqueue.map((unit) => ({ ...unit, run })),
  );
  const created = move.enqueue.filter((_, index) => answers[index]?.created);
  for (const { id, claimTimeoutMs } of created)
    if (claimTimeoutMs !== null) tables.timer.put({ id, kind: "claim", at: now + claimTimeoutMs });
  if (finish) endRun(tables, now, run, finish);
  return created.length;
}

function begin(tables: Tables, now: number, move: RunMove, start: NonNullable<RunMove["start"]>): void {
  const { run, epoch } = move;
  const claim = current(tables, { id: run, epoch });
  if (claim) tables.running.put({ ...claim, startedAt: now, untilAt: null });
  const paused = tables.run.get(run)?.paused ?? false;
  for (const { key, limit } of start.gates) {
    if (tables.gate.has(key)) continue;
    const unset = { leaseMs: null, leaseDeclared: null, setBy: null, setAt: null, n: 0 };
    tables.gate.insert({ name: key, capacity: limit, declared: limit, line: "skip", paused, ...unset });
  }
  if (start.timeoutMs !== null) tables.timer.put({ id: run, kind: "run", at: now + start.timeoutMs });
}

function laneOfRun(tables: Tables, run: string): LaneSpec {
  const task = tables.task.get(run);
  if (!task) throw new Error(`${run} is no run`);
  return { id: task.lane, queue: task.queue, task: task.name, asks: task.asks };
}
