/** Ends a run, whatever the cause, and clears its rows away afterwards. */
import { asksOf } from "../lane.ts";
import type { RunState } from "../runs.ts";
import { RUNS } from "../runs.ts";
import type { NewTask } from "../store.ts";
import { cutOff, cutThrough, tellParent } from "./child.ts";
import { endStoppedBy } from "./end-line.ts";
import { enqueue } from "./enqueue.ts";
import { leaveNews, ofRun } from "./news.ts";
import { runState } from "./run.ts";
import { isStillStopping } from "./stopping.ts";
import type { GateRecord, RunningRecord, Tables, TaskRecord } from "./tables.ts";
import { forgetTimers } from "./timer.ts";
import { deleteWaits } from "./waiting.ts";
import type { WithdrawVerdict } from "./withdraw.ts";
import { cancelledBy, withdraw } from "./withdraw.ts";

/** A run's own gates are named after it: "run:01m7…/steps". */
export const gatesOfRun = (tables: Tables, run: string): GateRecord[] =>
  tables.gate.all().filter(({ name }) => isOwn(run, name));

const isOwn = (run: string, gate: string): boolean => gate.startsWith(`run:${run}/`);

/** The claim of a run in progress. */
export const claimOfRun = (tables: Tables, run: string): RunningRecord | undefined =>
  tables.running.of(run).find(({ session }) => session === RUNS);

const unitsOf = (tables: Tables, run: string): TaskRecord[] =>
  tables.task.all().filter((task) => task.run === run);

/**
 * Cancels the remaining units of the run. The end leaves news of the run, so the next `advance` clears away
 * its rows.
 */
export function endRun(
  tables: Tables,
  now: number,
  run: string,
  { handler, ...verdict }: WithdrawVerdict & { readonly handler?: NewTask | undefined },
): void {
  endUnits(tables, now, run);
  withdraw(tables, now, run, verdict, isStillStopping(tables, run));
  const workflow = tables.run.get(run)?.workflow;
  const isChild = (tables.run.get(run)?.root ?? null) !== null;
  if (verdict.state === "succeeded" && workflow !== undefined && !isChild)
    tables.success.put({ workflow, run, at: now });
  leaveNews(tables, [ofRun(run)]);
  tellParent(tables, run);
  if (verdict.state !== "succeeded") endStoppedBy(tables, now, run);
  if (handler) enqueue(tables, now, [handler]);
}

function endUnits(tables: Tables, now: number, run: string): void {
  for (const { id } of unitsOf(tables, run)) {
    const place = withdraw(tables, now, id, cancelledBy("run"));
    if (place !== undefined) cutOff(tables, id);
    forgetTimers(tables, id);
  }
  for (const { lane } of tables.step.of(run)) if (lane !== null) forgetTimers(tables, lane);
  forgetTimers(tables, run);
  deleteWaits(tables, run);
}

/** Ends what is left of a run that has ended as a unit of its parent. It looks again, to clear its rows away. */
export function endBelow(tables: Tables, now: number, run: string): void {
  endUnits(tables, now, run);
  cutThrough(tables, run);
  leaveNews(tables, [ofRun(run)]);
}

/** It is in progress, or was before it gave its slots back and went back in line. */
const hasBegun = (tables: Tables, id: string): boolean =>
  claimOfRun(tables, id) !== undefined ||
  (tables.waiting.has(id) && (tables.run.get(id)?.beganAt ?? null) !== null);

export function cancelRun(
  tables: Tables,
  now: number,
  id: string,
  by: string,
  only?: "queued",
): { readonly was: RunState } | undefined {
  if (!tables.run.has(id)) return undefined;
  const was = runState(tables, id);
  if (only === "queued" && was !== "queued") return { was };
  if (hasBegun(tables, id)) endRun(tables, now, id, cancelledBy(by));
  else {
    const place = withdraw(tables, now, id, cancelledBy(by));
    if (place !== undefined) tellParent(tables, id);
    if (place !== undefined) endStoppedBy(tables, now, id);
  }
  return { was };
}

export function failRun(tables: Tables, now: number, id: string, error: string, handler?: NewTask): boolean {
  if (!tables.run.has(id) || !hasBegun(tables, id)) return false;
  endRun(tables, now, id, { state: "failed", body: error, handler });
  return true;
}

/**
 * Deletes the gates and lanes that only this run and the runs below it used; a lane that asks none of its gates is
 * shared with others. Arrivals are deleted too, or the next pass would recreate gates and lanes for units that are gone.
 */
export function clearAway(tables: Tables, run: string): void {
  // A run that was given up in line, after it had rested, may have left some.
  deleteWaits(tables, run);
  const below = tables.run.all().filter(({ root }) => root === run);
  const units = [run, ...below.map(({ id }) => id)].flatMap((id) => unitsOf(tables, id));
  const own = units.filter(({ asks }) => asksOf(asks).some(({ gate }) => isOwn(run, gate)));
  const lanes = new Set(own.map(({ lane }) => lane));
  for (const { seq, lane } of tables.arrival.all()) if (lanes.has(lane)) tables.arrival.delete(seq);
  for (const { name } of gatesOfRun(tables, run)) tables.gate.delete(name);
  for (const lane of lanes) tables.lane.delete(lane);
  for (const lane of lanes) tables.aside.delete(lane);
}
