/**
 * Submit writes a run's body and place like any other unit's, and the rows that only runs have. A queued run
 * only inserts, like an enqueue. A direct run has a claim instead of a place: it is in progress at once, and
 * counts at the gates that it bypassed.
 */

import { createHash } from "node:crypto";
import { DEFAULT_NAMESPACE } from "../../core/gate/key.ts";
import { storedOptions } from "../../core/unit-options.ts";
import type { Flow } from "../flow.ts";
import { commit, flight, send } from "../flow.ts";
import { nestedGraph } from "../graph-id.ts";
import { inPortions } from "../portions.ts";
import type { NewRun, StepMove } from "../runs.ts";
import { RUNS } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { by, leaseNow, now, rows, sql } from "../sql.ts";
import type { Enqueued } from "../store.ts";
import { bestPerLane, takeIn } from "./arrival.ts";
import { answersTo, insertTasks, putInLine, selectIds, selectKeys, selectPlaced } from "./enqueue.ts";
import { insertNewsOfRuns } from "./news.ts";
import { tellClaimed, tellEnqueued } from "./tell.ts";

/**
 * With `isAgain`, an answer was lost and the first try may still arrive. A run that already has a place does
 * not get a second one.
 */
export function submit(runs: readonly NewRun[], isAgain = false): Flow<Enqueued[]> {
  return insert(runs, isAgain, insertGraphs(runs));
}

/**
 * Runs share graphs, so a transaction that stores a new graph blocks all others with the same graph until it
 * commits. A caller's transaction may be long, so graphs are stored in one of our own before it. If the
 * caller rolls back, a graph without runs remains, and the next run of that workflow uses it.
 */
export function* storeGraphs(runs: readonly NewRun[]): Flow<void> {
  yield* commit(insertGraphs(runs));
}

/** Like `submit`, after the graphs have been stored. */
export function submitRuns(runs: readonly NewRun[]): Flow<Enqueued[]> {
  return insert(runs, false, []);
}

function* insert(runs: readonly NewRun[], isAgain: boolean, before: readonly Sql[]): Flow<Enqueued[]> {
  const { mine, known, placed } = yield* flight({
    before,
    inserted: insertTasks(runs),
    mine: selectIds(runs),
    known: selectKeys(runs.filter(({ key }) => key !== null)),
    placed: isAgain && selectPlaced(runs),
  });
  const inserted = new Set(mine);
  const created = placed.length > 0 ? [] : runs.filter(({ id }) => inserted.has(id));
  yield* send(created.length > 0 && place(created));
  return answersTo(runs, inserted, known);
}

function place(runs: readonly NewRun[]): Sql[] {
  const direct = runs.filter((run) => run.direct);
  const queued = runs.filter((run) => !run.direct);
  const steps = runs.flatMap(({ id, steps }) => steps.map((step) => ({ run: id, ...step })));
  return [
    ...insertRuns(runs),
    ...insertSteps(steps),
    ...(queued.length > 0 ? putInLine(queued) : []),
    ...(direct.length > 0 ? goAhead(direct) : []),
    ...tellEnqueued(runs.map(({ id }) => id)),
    ...(direct.length > 0
      ? [
          tellClaimed(
            direct.map(({ id }) => id),
            RUNS,
          ),
        ]
      : []),
  ];
}

/** The lane must exist from the first moment: a claim without a lane would count nowhere. */
function goAhead(runs: readonly NewRun[]): Sql[] {
  const lanes = runs.map(({ id, priority, lane }) => ({
    lane: lane.id,
    queue: lane.queue,
    task: lane.task,
    asks: lane.asks,
    precedence: 0 - priority,
    at: 0,
    unit: id,
  }));
  return [...takeIn(bestPerLane(lanes)), insertClaims(runs), insertNewsOfRuns(runs.map(({ id }) => id))];
}

/** The graphs of a tree are stored once, however many runs use them. */
function graphHash({ graph, nested = [] }: NewRun): string {
  const text = nested.length === 0 ? graph : JSON.stringify([graph, ...nested]);
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}

function graphsOf(run: NewRun): [hash: string, body: string][] {
  const hash = graphHash(run);
  return [
    [hash, run.graph],
    ...(run.nested ?? []).map((body, index): [string, string] => [nestedGraph(hash, index + 1), body]),
  ];
}

const insertGraphs = (runs: readonly NewRun[]): Sql[] => {
  const graphs = new Map(runs.flatMap(graphsOf));
  const list = [...graphs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([hash, body]) => ({ hash, body }));
  return inPortions(
    list,
    (graphs) =>
      sql`INSERT INTO sluice_graph (hash, body) SELECT g.hash, g.body FROM ${rows("g", { hash: "text", body: "text" }, graphs)}
    WHERE NOT EXISTS (SELECT 1 FROM sluice_graph k WHERE k.hash = g.hash) ${by({
      postgres: "ON CONFLICT DO NOTHING",
      sqlite: "ON CONFLICT DO NOTHING",
      mysql: "ON DUPLICATE KEY UPDATE sluice_graph.hash = sluice_graph.hash",
    })}`,
  );
};

const RUN = {
  id: "text",
  workflow: "text",
  graph: "text",
  tags: "text",
  source: "text",
  namespace: "text",
  rerun_of: "text",
} as const;

const insertRuns = (runs: readonly NewRun[]): Sql[] =>
  inPortions(
    runs.map((run) => ({
      id: run.id,
      workflow: run.name,
      graph: graphHash(run),
      tags: run.tags,
      source: run.source,
      namespace: run.namespace ?? DEFAULT_NAMESPACE,
      rerun_of: run.rerunOf,
    })),
    (portion) =>
      sql`INSERT INTO sluice_run (id, workflow, graph, tags, source, namespace, rerun_of, paused) SELECT r.id, r.workflow, r.graph, r.tags, r.source, r.namespace, r.rerun_of, 0 FROM ${rows("r", RUN, portion)}`,
  );

const STEP = {
  run: "text",
  name: "text",
  state: "text",
  unit: "text",
  body: "text",
  lane: "text",
  total: "int",
  created: "int",
} as const;

interface StepOfRun extends StepMove {
  readonly run: string;
}

/** Fields of the items that are not given keep their values. */
const upsert = (fresh: (column: string) => string): string =>
  `state = ${fresh("state")}, unit = ${fresh("unit")}, body = ${fresh("body")}, ${["lane", "total", "created"]
    .map((column) => `${column} = COALESCE(${fresh(column)}, sluice_step.${column})`)
    .join(", ")}`;

export const insertSteps = (steps: readonly StepOfRun[]): Sql[] =>
  inPortions(
    steps.map(({ run, name, state, unit, body, fan }) => ({
      run,
      name,
      state,
      unit,
      body,
      lane: fan?.lane ?? null,
      total: fan?.total ?? null,
      created: fan?.created ?? null,
    })),
    (portion) =>
      sql`INSERT INTO sluice_step (run, name, state, unit, body, lane, total, created) SELECT s.run, s.name, s.state, s.unit, s.body, s.lane, s.total, s.created FROM ${rows("s", STEP, portion)} ${UPSERT}`,
  );

const UPSERT = by({
  postgres: `ON CONFLICT (run, name) DO UPDATE SET ${upsert((column) => `excluded.${column}`)}`,
  sqlite: `WHERE true ON CONFLICT (run, name) DO UPDATE SET ${upsert((column) => `excluded.${column}`)}`,
  mysql: `ON DUPLICATE KEY UPDATE ${upsert((column) => `VALUES(${column})`)}`,
});

const insertClaims = (runs: readonly NewRun[]): Sql => {
  const list = rows(
    "r",
    { id: "text", lane: "text", precedence: "int", lease: "int" },
    runs.map((run) => ({
      id: run.id,
      lane: run.lane.id,
      precedence: 0 - run.priority,
      lease: storedOptions(run.options).startTimeoutMs,
    })),
  );
  return sql`INSERT INTO sluice_running (id, lane, session, held, until_at, claimed_at, claimed_n, precedence, at, attempt, losses, good_until, n)
    SELECT r.id, r.lane, ${by({ postgres: `'${RUNS}'`, sqlite: `'${RUNS}'`, mysql: `'${RUNS}'` })}, 1, ${leaseNow} + r.lease, ${now}, 2, r.precedence, ${now}, 1, 0, NULL, 2 FROM ${list}`;
};
