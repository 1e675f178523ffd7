/** Submit: a run's body and place like any other unit's, and what only runs have. */
import { createHash } from "node:crypto";
import type { Flow } from "../flow.ts";
import { flight } from "../flow.ts";
import type { NewRun } from "../runs.ts";
import { oneOf, rows, sql } from "../sql.ts";
import type { Enqueued } from "../store.ts";
import { enqueue } from "./enqueue.ts";

export function* submit(runs: readonly NewRun[]): Flow<Enqueued[]> {
  const [known = []] = yield* flight(
    sql`SELECT name, idem_key FROM sluice_task WHERE idem_key ${oneOf(runs.flatMap(({ key }) => key ?? []))}`,
  );
  const taken = new Set(known.map((row) => `${row.name}\n${row.idem_key}`));
  const list = runs.filter(({ name, key }) => key === null || !taken.has(`${name}\n${key}`));
  yield* flight(
    sql`INSERT INTO sluice_run (id, workflow, graph, tags, source) SELECT r.id, r.workflow, r.graph, r.tags, r.source FROM ${rows(
      "r",
      { id: "text", workflow: "text", graph: "text", tags: "text", source: "text" },
      list.map(({ id, name, graph, tags, source }) => ({
        id,
        workflow: name,
        graph: createHash("sha256").update(graph).digest("base64url"),
        tags,
        source,
      })),
    )}`,
  );
  return yield* enqueue(runs);
}
