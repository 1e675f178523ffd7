/**
 * Submit: a run is put in line like a task. With `direct` it gets its claim at once, past the gates but
 * counted at them.
 */

import { createHash } from "node:crypto";
import { DEFAULT_NAMESPACE } from "../../core/gate/key.ts";
import { storedOptions } from "../../core/unit-options.ts";
import { nestedGraph } from "../graph-id.ts";
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
  for (const run of runs) putGraphs(tables, run);
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

/** Equal trees of graphs are stored once, however many runs use them. */
function hashOf({ graph, nested = [] }: NewRun): string {
  const all = nested.length === 0 ? graph : JSON.stringify([graph, ...nested]);
  return createHash("sha256").update(all).digest("base64url").slice(0, 22);
}

function putGraphs(tables: Tables, run: NewRun): void {
  const hash = hashOf(run);
  tables.graph.put({ hash, body: run.graph });
  for (const [index, body] of (run.nested ?? []).entries())
    tables.graph.put({ hash: nestedGraph(hash, index + 1), body });
}

function insertRun(tables: Tables, run: NewRun): void {
  const { id, name, tags, source, namespace = DEFAULT_NAMESPACE, rerunOf, steps } = run;
  const alone = { root: null, parent: null, depth: 0 };
  tables.run.insert({
    id,
    workflow: name,
    graph: hashOf(run),
    tags,
    source,
    namespace,
    rerunOf,
    paused: false,
    beganAt: null,
    ...alone,
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
