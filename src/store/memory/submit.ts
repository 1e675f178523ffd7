/**
 * Submit: a run is put in line like a task. With `direct` it gets its claim at once, past the gates but
 * counted at them.
 */

import { createHash } from "node:crypto";
import { storedOptions } from "../../core/unit-options.ts";
import type { NewRun } from "../runs.ts";
import { RUNS } from "../runs.ts";
import type { Enqueued } from "../store.ts";
import { takeIn } from "./arrival.ts";
import { insertClaim } from "./claim.ts";
import { answer, insertBodies, putInLine, record } from "./enqueue.ts";
import { leaveNews, ofRun } from "./news.ts";
import { putStep } from "./step.ts";
import type { Tables } from "./tables.ts";
import { negated } from "./tables.ts";

export function submit(tables: Tables, now: number, runs: readonly NewRun[]): Enqueued[] {
  const created = insertBodies(tables, now, runs);
  for (const { graph } of runs) tables.graph.put({ hash: hashOf(graph), body: graph });
  for (const run of created) insertRun(tables, run);
  putInLine(
    tables,
    now,
    created.filter(({ direct }) => !direct),
  );
  letIn(
    tables,
    now,
    created.filter(({ direct }) => direct),
  );
  return runs.map((run) => answer(tables, run));
}

/** A graph is stored once, however many runs use it. */
const hashOf = (graph: string): string => createHash("sha256").update(graph).digest("base64url").slice(0, 22);

function insertRun(tables: Tables, { id, name, graph, tags, source, rerunOf, steps }: NewRun): void {
  tables.run.insert({
    id,
    workflow: name,
    graph: hashOf(graph),
    tags,
    source,
    rerunOf,
    paused: false,
    beganAt: null,
  });
  for (const step of steps) putStep(tables, id, step);
}

/** A claim counts through its lane, so the lane is created here too. */
function letIn(tables: Tables, now: number, runs: readonly NewRun[]): void {
  takeIn(
    tables,
    runs.map(({ id, lane, priority }) => {
      const { queue, task, asks } = lane;
      // It never was in line.
      return { seq: 0, lane: lane.id, queue, task, asks, precedence: negated(priority), at: 0, unit: id };
    }),
  );
  for (const run of runs) claimAtOnce(tables, now, run);
  leaveNews(
    tables,
    runs.map(({ id }) => ofRun(id)),
  );
}

function claimAtOnce(tables: Tables, now: number, run: NewRun): void {
  const { startTimeoutMs } = storedOptions(run.options);
  record(tables, now, run);
  insertClaim(tables, {
    id: run.id,
    lane: run.lane.id,
    precedence: negated(run.priority),
    at: now,
    epoch: tables.nextEpoch(),
    session: RUNS,
    held: true,
    untilAt: now + startTimeoutMs,
    claimedAt: now,
    claimedN: 2,
    startedAt: null,
    progress: null,
    leaseMs: null,
    attempt: 1,
    losses: 0,
    goodUntil: null,
    n: 2,
  });
}
