/** Actions of operators and timers on runs and waiting units: pause, reprioritize, end a wait. */
import { pausedChange } from "../feed.ts";
import type { NewTask } from "../store.ts";
import { announce } from "./arrival.ts";
import { endStoppedBy } from "./end-line.ts";
import { claimOfRun, gatesOfRun } from "./end-run.ts";
import { enqueue } from "./enqueue.ts";
import { changeLimit } from "./hand.ts";
import { leaveNews, leaveNewsOf, ofRun } from "./news.ts";
import type { Tables } from "./tables.ts";
import { negated } from "./tables.ts";
import { forgetTimers } from "./timer.ts";
import { withdraw } from "./withdraw.ts";

/** Every step of a run asks a gate of the run, so pausing these gates holds back all steps. */
export function pauseRun(tables: Tables, now: number, id: string, paused: boolean, by: string): boolean {
  const run = tables.run.get(id);
  if (!run || !claimOfRun(tables, id)) return false;
  tables.run.put({ ...run, paused });
  for (const gate of gatesOfRun(tables, id))
    if (gate.paused !== paused)
      changeLimit(tables, now, { key: gate.name, to: paused ? "paused" : "resumed", by });
  tables.feed.run(pausedChange(id, paused, by));
  // A step that would have begun to wait during the pause begins now.
  if (!paused) leaveNews(tables, [ofRun(id)]);
  return true;
}

/** The unit is announced again, because it may be the first of its lane now. */
export function reprioritize(
  tables: Tables,
  now: number,
  id: string,
  priority: number,
  by: string,
): { readonly from: number } | undefined {
  const task = tables.task.get(id);
  const waiting = tables.waiting.get(id);
  const later = tables.later.get(id);
  const unit = waiting ?? later;
  if (!task || !unit) return undefined;
  const n = unit.n + 1;
  const place = { precedence: negated(priority), n };
  const from = task.priority;
  tables.task.put({ ...task, priority });
  if (waiting) tables.waiting.put({ ...waiting, ...place });
  if (later) tables.later.put({ ...later, ...place });
  announce(tables, [id]);
  const data = JSON.stringify({ by, from, to: priority });
  tables.event.insert({ subject: id, n, kind: "TaskReprioritized", at: now, data });
  return { from };
}

export function failWaiting(
  tables: Tables,
  now: number,
  id: string,
  error: string,
  handler?: NewTask,
): boolean {
  if (!tables.waiting.has(id)) return false;
  withdraw(tables, now, id, { state: "failed", body: error });
  forgetTimers(tables, id);
  leaveNewsOf(tables, [id]);
  endStoppedBy(tables, now, id);
  if (handler) enqueue(tables, now, [handler]);
  return true;
}
