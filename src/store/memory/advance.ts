/** Advance: reads some news, shows the runs in progress to `decide`, and writes what has to follow. */

import { MOST_LOADED, portion } from "../../core/run/load.ts";
import { storedOptions } from "../../core/unit-options.ts";
import { stillCounting } from "../cut-off.ts";
import { changesOfRun } from "../feed.ts";
import type { LaneSpec } from "../lane.ts";
import type { Advanced, DecideRuns, NewUnit, RunMove } from "../runs.ts";
import type { News, RunSeen } from "../store.ts";
import { insertChild, isCutOff, takeOver, tellParent } from "./child.ts";
import { current } from "./claim.ts";
import { endItems, endLine } from "./end-line.ts";
import { claimOfRun, clearAway, endBelow, endRun } from "./end-run.ts";
import { enqueue } from "./enqueue.ts";
import { leaveNews, ofRun, someNews } from "./news.ts";
import { bytes, gather, gathered } from "./results.ts";
import { exitOfLost, settle } from "./settle.ts";
import { putStep, stepSeen, stepsOf } from "./step.ts";
import { isStillStopping, releaseRun } from "./stopping.ts";
import type { RunningRecord, RunRecord, Tables } from "./tables.ts";
import { beginWaits, takeAnswers } from "./waiting.ts";

export function advance(tables: Tables, now: number, decide: DecideRuns, most = MOST_LOADED): Advanced {
  const news = someNews(tables);
  const all = [...new Set(news.map(({ run }) => run))].sort();
  const { now: runs, later: unseen } = portion(
    all,
    new Map(all.map((id) => [id, sizeOfRun(tables, id)])),
    most,
  );
  const seen = runs.flatMap((run) => {
    const claim = claimOfRun(tables, run);
    return claim ? [readable(runSeen(tables, claim, news), most)] : [];
  });
  const { moves, later = [] } = seen.length > 0 ? decided(tables, seen, decide) : { moves: [] };
  const waiting = new Set([...unseen, ...later]);
  const cut = runs.filter((run) => isCutOff(tables, run));
  const isOver = (run: string): boolean => tables.outcome.has(run) && !isStillStopping(tables, run);
  const over = runs.filter((run) => isOver(run) && !cut.includes(run));
  const stopped = over.filter((run) => releaseRun(tables, run));
  for (const run of over) clearAway(tables, run);
  for (const run of stopped) tellParent(tables, run);
  for (const run of cut) endBelow(tables, now, run);
  const byRun = new Map(seen.map((run) => [run.id, run]));
  const valid = stillCounting(
    moves.filter(({ run, epoch }) => current(tables, { id: run, epoch })),
    byRun,
  );
  const enqueued = valid
    .map((move) => apply(tables, now, move, byRun.get(move.run)))
    .reduce((sum, count) => sum + count, 0);
  for (const { seq, run } of news) if (!waiting.has(run)) tables.news.delete(seq);
  const ended = valid.flatMap(({ run, finish }) => (finish ? [run] : []));
  const resting = valid.flatMap(({ run, claim }) => (claim === null ? [] : [run]));
  const freed = [...ended, ...resting, ...stopped].map((run) => laneOfRun(tables, run));
  return { news: news.length, enqueued, freed, ...(cut.length > 0 ? { cut: true as const } : {}) };
}

/** Calls `decide` again after each read it asks for. */
function decided(
  tables: Tables,
  seen: readonly RunSeen[],
  decide: DecideRuns,
): { readonly moves: readonly RunMove[]; readonly later?: readonly string[] } {
  const results = gathered();
  for (;;) {
    const answer = decide(seen, results);
    if ("moves" in answer) return answer;
    gather(tables, answer.read, results);
  }
}

function sizeOfRun(tables: Tables, id: string): number {
  const run = tables.run.get(id);
  const graph = run && tables.graph.get(run.graph);
  return bytes(tables.task.get(id)?.input ?? "") + bytes(graph?.body ?? "");
}

function readable(run: RunSeen, most: number): RunSeen {
  const size = bytes(run.input) + bytes(run.graph);
  return size > most ? { ...run, input: "", graph: "", unread: size } : run;
}

function runSeen(
  tables: Tables,
  { id, epoch, startedAt, held }: RunningRecord,
  news: readonly News[],
): RunSeen {
  const run = tables.run.get(id);
  const task = tables.task.get(id);
  if (!run || !task) throw new Error(`a claim of ${id}, which is not a run`);
  const { paused, graph: graphId } = run;
  const { priority, input, options } = task;
  const failed = news.flatMap((one) => (one.run === id ? (one.failed ?? []) : []));
  return {
    id,
    epoch,
    started: startedAt !== null,
    holds: held,
    resumes: startedAt === null && run.beganAt !== null,
    paused,
    priority,
    input,
    options,
    graph: tables.graph.get(graphId)?.body ?? "",
    graphId,
    steps: stepsOf(tables, id).map((step) => stepSeen(tables, step)),
    failed: [...new Set(failed)].sort(),
    rerunOf: storedOptions(options).fromNothing ? null : run.rerunOf,
    ...earlierOf(tables, run, startedAt !== null),
  };
}

/** The steps of the child that this one repeats. */
function earlierOf(tables: Tables, { root, rerunOf }: RunRecord, started: boolean): Pick<RunSeen, "earlier"> {
  if (started || root === null || rerunOf === null) return {};
  return { earlier: stepsOf(tables, rerunOf).map(({ name, state }) => ({ name, state })) };
}

/** Returns how many units were put in line. */
function apply(tables: Tables, now: number, move: RunMove, seen: RunSeen | undefined): number {
  const { run, start, gates, steps, finish } = move;
  if (start) begin(tables, now, move, start);
  if (move.claim === "rest") rest(tables, run);
  if (move.claim === "line") backInLine(tables, now, run);
  bringForth(tables, run, gates);
  for (const step of steps) putStep(tables, run, step);
  takeAnswers(tables, move);
  for (const change of changesOfRun(move, seen)) tables.feed.run(change);
  const created = putUnits(tables, now, move);
  for (const { lane, afterMs } of move.timers)
    tables.timer.put({ id: lane, kind: "items", at: now + afterMs });
  beginWaits(tables, now, move);
  for (const ending of move.endItems) endItems(tables, now, run, ending);
  if (move.endLine) endLine(tables, now, run, move.endLine.because);
  // `endRun` leaves news of the run itself.
  if (finish) endRun(tables, now, run, finish);
  else if (move.again) leaveNews(tables, [ofRun(run)]);
  return created;
}

function putUnits(tables: Tables, now: number, { run, enqueue: units }: RunMove): number {
  const answers = enqueue(
    tables,
    now,
    units.map((unit) => bodyOf(run, unit)),
  );
  for (const unit of units) insertChild(tables, run, unit);
  const created = units.filter((_, index) => answers[index]?.created);
  for (const { id, claimTimeoutMs } of created)
    if (claimTimeoutMs !== null) tables.timer.put({ id, kind: "claim", at: now + claimTimeoutMs });
  return created.length;
}

/** A run of its own is no unit of the run that starts it. */
function bodyOf(run: string, { step, item, ...unit }: NewUnit) {
  return unit.child?.root === null ? unit : { ...unit, run, step, item };
}

function begin(tables: Tables, now: number, move: RunMove, start: NonNullable<RunMove["start"]>): void {
  const { run, epoch } = move;
  const claim = current(tables, { id: run, epoch });
  if (claim) tables.running.put({ ...claim, startedAt: tables.run.get(run)?.beganAt ?? now, untilAt: null });
  bringForth(tables, run, start.gates);
  if (start.takeOver) takeOver(tables, run, start.takeOver);
  if (start.timeoutMs !== null) tables.timer.put({ id: run, kind: "run", at: now + start.timeoutMs });
}

/** A claim without slots has no lease either. */
function rest(tables: Tables, run: string): void {
  const claim = claimOfRun(tables, run);
  if (claim && !isStillStopping(tables, run)) tables.running.put({ ...claim, held: false, untilAt: null });
}

function backInLine(tables: Tables, now: number, id: string): void {
  const claim = claimOfRun(tables, id);
  const run = tables.run.get(id);
  if (!claim || !run) return;
  tables.run.put({ ...run, beganAt: claim.startedAt });
  settle(tables, now, [exitOfLost({ id, epoch: claim.epoch, to: "waiting", body: null })]);
}

/** A paused run's gates are created paused. */
function bringForth(tables: Tables, run: string, gates: RunMove["gates"]): void {
  const paused = tables.run.get(run)?.paused ?? false;
  for (const { key, limit } of gates) {
    if (tables.gate.has(key)) continue;
    const unset = { leaseMs: null, leaseDeclared: null, setBy: null, setAt: null, n: 0 };
    tables.gate.insert({ name: key, capacity: limit, declared: limit, line: "skip", paused, ...unset });
  }
}

function laneOfRun(tables: Tables, run: string): LaneSpec {
  const task = tables.task.get(run);
  if (!task) throw new Error(`${run} is not a run`);
  return { id: task.lane, queue: task.queue, task: task.name, asks: task.asks };
}
