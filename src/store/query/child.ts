/** Writes child runs: their rows, what they take over, and the news that their ends are for their parents. */
import { nestedGraph } from "../graph-id.ts";
import { inPortions } from "../portions.ts";
import type { NewChild, NewUnit, RunMove, RunSeen } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { by, oneOf, rows, sql } from "../sql.ts";

const CHILD = {
  id: "text",
  workflow: "text",
  graph: "text",
  tags: "text",
  source: "text",
  root: "text",
  parent: "text",
  depth: "int",
  again: "text",
} as const;

type Child = NewUnit & { readonly child: NewChild };

export const childrenIn = ({ enqueue }: RunMove): Child[] =>
  enqueue.filter((unit): unit is Child => unit.child !== undefined);

/** Must come after the bodies of these runs: they say which step and item each run is, and its input. */
export const insertChildren = (children: readonly Child[], { id, graphId }: RunSeen): Sql[] =>
  inPortions(
    children.map(({ id: run, name, child }) => ({
      id: run,
      workflow: name,
      graph: nestedGraph(graphId, child.graph),
      tags: child.tags,
      source: child.source,
      root: child.root,
      parent: child.tells ? id : null,
      depth: child.depth,
      again: child.rerunOf,
    })),
    (portion) =>
      sql`INSERT INTO sluice_run (id, workflow, graph, tags, source, rerun_of, paused, root, parent, depth)
        SELECT r.id, r.workflow, r.graph, r.tags, r.source, ${portion.some(({ again }) => again !== null) ? EARLIER : NO_EARLIER}, 0, r.root, r.parent, r.depth FROM ${rows("r", CHILD, portion)}`,
  );

const NO_EARLIER = by({ postgres: "NULL::text", sqlite: "NULL", mysql: "NULL" });

/** The unsuccessful child of the same step or item in the run that is repeated, if it had the same input. */
const EARLIER = sql`(SELECT MAX(e.id) FROM sluice_task t JOIN sluice_task e ON e.run = r.again AND e.step = t.step AND COALESCE(e.item, -1) = COALESCE(t.item, -1) AND e.input = t.input
  JOIN sluice_outcome o ON o.id = e.id AND o.state <> 'succeeded' WHERE t.id = r.id)`;

/** Copies finished steps of an earlier run, with whatever is stored with them. */
export const takeOver = (run: string, { run: from, steps }: { run: string; steps: readonly string[] }): Sql =>
  sql`INSERT INTO sluice_step (run, name, state, unit, body) SELECT ${run}, s.name, s.state, s.unit, s.body FROM sluice_step s WHERE s.run = ${from} AND s.name ${oneOf(steps)}`;

/** Must come after the ends of these runs. A failed item may end the other items of its step. */
export const tellParents = (runs: readonly string[]): Sql =>
  sql`INSERT INTO sluice_news (run, failed) SELECT u.parent, CASE WHEN o.state = 'succeeded' THEN NULL ELSE t.step END FROM sluice_run u JOIN sluice_task t ON t.id = u.id JOIN sluice_outcome o ON o.id = u.id
    WHERE u.id ${oneOf(runs)} AND u.parent IS NOT NULL`;

/** News for the children of these runs that have just ended with them. */
export const tellChildren = (runs: readonly string[]): Sql =>
  sql`INSERT INTO sluice_news (run, failed) SELECT x.id, NULL FROM sluice_stopping x WHERE x.run ${oneOf(runs)} AND x.because = 'parent'`;
