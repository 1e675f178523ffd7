/** Reads runs for users: one with its steps, or a list. The state of a run follows from its place. */
import type { RunDetail, RunFilter, RunRow, RunState, StepRow } from "../runs.ts";
import type { FinalState } from "../store.ts";
import { stays } from "./in-line.ts";
import { itemCounts } from "./item.ts";
import { stateOf } from "./read.ts";
import { endedOf, fanOf, stepsOf } from "./step.ts";
import type { RunRecord, StepRecord, Tables } from "./tables.ts";
import { waitRow } from "./waiting.ts";

/** A run that ended in any other way counts as failed. */
const ENDED: Readonly<Record<FinalState, RunState>> = {
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
  expired: "failed",
  quarantined: "failed",
};

export function runState(tables: Tables, id: string): RunState {
  const outcome = tables.outcome.get(id);
  if (outcome) return ENDED[outcome.state];
  const [claim] = tables.running.of(id);
  if (!claim) return "queued";
  return claim.startedAt === null ? "notStarted" : "started";
}

/** A run is paused with the run at the top of its tree. */
export const isPaused = (tables: Tables, { root, paused }: RunRecord): boolean =>
  (root === null ? undefined : tables.run.get(root)?.paused) ?? paused;

export function run(tables: Tables, id: string): RunDetail | undefined {
  const found = tables.run.get(id);
  if (!found) return undefined;
  const graph = tables.graph.get(found.graph)?.body ?? "";
  return {
    run: runRow(tables, found),
    graph,
    steps: stepsOf(tables, id).map((step) => stepRow(tables, step)),
  };
}

export function runs(tables: Tables, filter: RunFilter): RunRow[] {
  const { state, workflow, tag, namespace, before, ids, root, after, limit } = filter;
  const all = tables.run.all();
  const found = (root ? all : all.reverse())
    .filter((row) => (root ? row.root === root && (!after || row.id > after) : ids || row.root === null))
    .filter((row) => (!workflow || row.workflow === workflow) && (!before || row.id < before))
    .filter((row) => !namespace || row.namespace === namespace)
    .filter((row) => (!tag || hasTag(row, tag)) && (!ids || ids.includes(row.id)))
    .map((row) => runRow(tables, row))
    .filter((row) => !state || row.state === state);
  return found.slice(0, Math.trunc(limit));
}

export function laterRuns(tables: Tables, limit: number, offset: number): RunRow[] {
  const found = tables.later.all().flatMap(({ id, at }) => {
    const record = tables.run.get(id);
    return record ? [{ at, record }] : [];
  });
  const sorted = found.sort((a, b) => a.at - b.at || (a.record.id < b.record.id ? -1 : 1));
  return sorted.slice(offset, offset + Math.trunc(limit)).map(({ record }) => runRow(tables, record));
}

function hasTag({ tags }: RunRecord, tag: string): boolean {
  const equals = tag.indexOf("=");
  const all = new Map(Object.entries(JSON.parse(tags) as Record<string, unknown>));
  if (equals < 0) return all.has(tag);
  const key = tag.slice(0, equals);
  return all.has(key) && String(all.get(key)) === tag.slice(equals + 1);
}

function runRow(tables: Tables, record: RunRecord): RunRow {
  const { id, workflow, tags, source, namespace, rerunOf, root, parent, depth, beganAt } = record;
  const task = tables.task.get(id);
  if (!task) throw new Error(`run ${id} has no body`);
  const { priority, input, idemKey: key, createdAt } = task;
  const outcome = tables.outcome.get(id);
  const [claim] = tables.running.of(id);
  const unit = tables.waiting.get(id) ?? tables.later.get(id) ?? claim;
  return {
    id,
    workflow,
    state: runState(tables, id),
    paused: isPaused(tables, record),
    later: tables.later.has(id),
    priority,
    tags,
    source,
    namespace,
    rerunOf,
    root,
    parent,
    depth,
    step: task.step,
    item: task.item,
    input,
    key,
    createdAt,
    queuedAt: unit?.at ?? createdAt,
    dequeuedAt: claim?.claimedAt ?? outcome?.claimedAt ?? null,
    startedAt: claim?.startedAt ?? beganAt ?? firstStepAt(tables, id),
    finishedAt: outcome?.finishedAt ?? null,
    body: outcome?.body ?? null,
  };
}

/** When the claim is gone, the run's units and waits still tell when it started. */
function firstStepAt(tables: Tables, run: string): number | null {
  const units = tables.task.all().flatMap((task) => (task.run === run ? [task.createdAt] : []));
  const waits = tables.step.of(run).flatMap(({ name }) => waitRow(tables, { run, step: name })?.since ?? []);
  const times = [...units, ...waits];
  return times.length > 0 ? Math.min(...times) : null;
}

function stepRow(tables: Tables, step: StepRecord): StepRow {
  const id = step.unit ?? "";
  const task = tables.task.get(id);
  const outcome = tables.outcome.get(id);
  const [claim] = tables.running.of(id);
  const place = outcome ?? claim ?? tables.waiting.get(id) ?? tables.later.get(id);
  return {
    name: step.name,
    state: step.state,
    unit: step.unit,
    body: step.body,
    fan: fanOf(step),
    ended: endedOf(tables, step),
    items: itemCounts(tables, step),
    task: task?.name ?? null,
    ofRun: task?.run ?? null,
    place: task ? stateOf(tables, id) : null,
    attempt: place?.attempt ?? 0,
    enqueuedAt: task?.createdAt ?? null,
    claimedAt: claim?.claimedAt ?? outcome?.claimedAt ?? null,
    finishedAt: outcome?.finishedAt ?? null,
    inLine: stays(tables, id),
    wait: waitRow(tables, { run: step.run, step: step.name }),
    progress: claim?.progress ?? null,
    result: outcome?.body ?? null,
  };
}
