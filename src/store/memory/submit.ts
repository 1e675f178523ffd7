/** Submit: a run's body and place like any other unit's, and what only runs have. */
import type { NewRun } from "../runs.ts";
import type { Enqueued } from "../store.ts";
import { enqueue } from "./enqueue.ts";
import type { Tables } from "./tables.ts";

export function submit(tables: Tables, now: number, runs: readonly NewRun[]): Enqueued[] {
  const answers = enqueue(tables, now, runs);
  for (const { id, name, graph, tags, source, rerunOf } of runs)
    if (tables.task.has(id) && !tables.run.has(id))
      tables.run.insert({ id, workflow: name, graph, tags, source, rerunOf, paused: false });
  return answers;
}
