/**
 * Records changes that do not belong to one unit: runs and steps as a whole, gates, workers, lanes, triggers.
 */
import type { RunChange } from "../feed.ts";
import { placeOfGate } from "../feed.ts";
import { inPortions } from "../portions.ts";
import type { Sql } from "../sql.ts";
import { by, now, rows, sql } from "../sql.ts";
import type { NewChange } from "../store.ts";
import { byTopic, INTO, inOrder, numbered, tells, wanted } from "./tell.ts";

const RUN = { run: "text", kind: "text", step: "text", data: "text", i: "int" } as const;

/** Records changes of runs and of their steps as a whole. They get the name and the queue of their run. */
export const tellRuns = (changes: readonly RunChange[]): Sql[] =>
  inPortions(numbered(changes.map(({ run, kind, step, data }) => ({ run, kind, step, data }))), (some) =>
    tells(
      sql`${INTO} SELECT c.kind, c.run, ${NULL_INT}, c.run, c.step, ${NULL_INT}, t.name, t.queue, ${now}, c.data
        FROM ${rows("c", RUN, some)} JOIN sluice_task t ON t.id = c.run
        WHERE ${wanted("run", { run: "c.run", subject: "c.run", task: "t.name", queue: "t.queue" })}${inOrder("c")}`,
    ),
  );

const NULL_INT = by({ postgres: "NULL::bigint", sqlite: "NULL", mysql: "NULL" });

const OTHER = {
  kind: "text",
  subject: "text",
  n: "int",
  run: "text",
  queue: "text",
  data: "text",
  i: "int",
} as const;

type OtherChange = Pick<NewChange, "kind" | "subject" | "data"> &
  Partial<Pick<NewChange, "n" | "run" | "queue">>;

const PLACE = { run: "c.run", subject: "c.subject", task: "''", queue: "c.queue" } as const;

/** Records changes of gates, workers, lanes and triggers. */
export const tellOthers = (changes: readonly OtherChange[]): Sql[] =>
  byTopic(changes).flatMap(([topic, some]) =>
    inPortions(numbered(some.map(otherRow)), (list) =>
      tells(
        sql`${INTO} SELECT c.kind, c.subject, c.n, c.run, NULL, ${NULL_INT}, NULL, c.queue, ${now}, c.data FROM ${rows("c", OTHER, list)} WHERE ${wanted(topic, PLACE)}${inOrder("c")}`,
      ),
    ),
  );

const otherRow = ({ kind, subject, n = null, run = null, queue = null, data }: OtherChange) => ({
  kind,
  subject,
  n,
  run,
  queue,
  data,
});

export const tellGates = (changes: readonly Pick<NewChange, "kind" | "subject" | "n" | "data">[]): Sql[] =>
  tellOthers(changes.map((change) => ({ ...change, ...placeOfGate(change.subject) })));
