/**
 * Queries about runs: one run with its steps, lists, whether there is something to do. Nothing here is
 * locked.
 */
import type { Flow } from "../flow.ts";
import { flight, send } from "../flow.ts";
import { inLineSince } from "../in-line.ts";
import { flag, int, intOrNull, only, text } from "../row.ts";
import type { ItemRow, RunDetail, RunFilter, RunRow, Standstill, StepRow } from "../runs.ts";
import { RUN_QUEUES } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { by, oneOf, raw, sql } from "../sql.ts";
import { earlierClaim, firstTold, withMoves } from "./in-line.ts";
import { joinPlaces, RUN_STATE } from "./place.ts";
import { selectRuns } from "./run-row.ts";
import type { Counted } from "./step-row.ts";
import { countItems, itemCounts, itemRows, selectItems, selectSteps, stepRows } from "./step-row.ts";
import { selectWaitsOf, waitRow } from "./wait-row.ts";

export { holders } from "./holders.ts";
export { line } from "./line.ts";

const exists = (query: Sql): Sql<boolean> =>
  sql`SELECT CASE WHEN EXISTS (${query}) THEN 1 ELSE 0 END AS there`.as(({ there }) => flag(there));

export function* stirring(): Flow<{ news: boolean; queued: boolean }> {
  const { news, queued } = yield* flight({
    news: exists(sql`SELECT 1 FROM sluice_news`),
    queued: [
      exists(sql`SELECT 1 FROM sluice_lane WHERE queue ${oneOf(RUN_QUEUES)} AND state <> 0`),
      exists(sql`SELECT 1 FROM sluice_arrival WHERE queue ${oneOf(RUN_QUEUES)}`),
    ],
  });
  return { news: news.includes(true), queued: queued.includes(true) };
}

export function* run(id: string): Flow<RunDetail | undefined> {
  const { runs, graphs, told } = yield* flight({
    runs: selectRuns(sql`WHERE u.id = ${id}`),
    graphs:
      sql`SELECT g.body FROM sluice_run u JOIN sluice_graph g ON g.hash = u.graph WHERE u.id = ${id}`.as(
        ({ body }) => text(body),
      ),
    told: selectSteps(id),
  });
  const [run] = runs;
  if (!run) return undefined;
  const steps = yield* stepRows(told);
  const { counted, waits } = yield* flight({
    counted: steps.filter(({ fan }) => fan).map(({ name }) => countItems(id, name)),
    waits: selectWaitsOf(id, steps),
  });
  const withWaits = steps.map((step) => ({ ...step, wait: waitRow(waits, step.name) }));
  return { run, graph: only(graphs), steps: withWaits.map((step) => withItems(step, counted)) };
}

const withItems = (step: StepRow, counted: readonly Counted[]): StepRow =>
  step.fan
    ? {
        ...step,
        items: itemCounts(
          step.fan,
          counted.filter((each) => each.step === step.name),
        ),
      }
    : step;

export function* items(
  run: string,
  step: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Flow<ItemRow[]> {
  return yield* itemRows(yield* send(selectItems(run, step, after, whole(limit))));
}

/**
 * The last claim is searched among all items of the list, so this runs when a timer rings and not for each
 * item.
 */
export function* standstill(lane: string): Flow<Standstill | undefined> {
  const { steps, waiting } = yield* flight({
    steps: sql`SELECT s.run, s.name, s.state FROM sluice_step s WHERE s.lane = ${lane}`.as((row) => ({
      run: text(row.run),
      name: text(row.name),
      open: row.state === "open",
    })),
    waiting:
      sql`SELECT w.id, w.at, w.n + 1 AS first_told FROM sluice_waiting w WHERE w.lane = ${lane} ORDER BY w.precedence, w.at, w.id LIMIT 200`.as(
        (row) => {
          const id = text(row.id);
          return { unit: id, first: firstTold(row), row: { id, at: int(row.at) } };
        },
      ),
  });
  const [step] = steps;
  if (!step) return undefined;
  const claims = yield* send(
    sql`SELECT MAX(COALESCE(r.claimed_at, o.claimed_at, ${earlierClaim("t.id", "last")})) AS claimed_at FROM sluice_task t ${raw(joinPlaces("t.id"))}
      WHERE t.run = ${step.run} AND t.step = ${step.name}`.as((row) => intOrNull(row.claimed_at)),
  );
  const inLine = yield* withMoves(waiting, ({ id, at }, moves) => ({ id, at: inLineSince(at, moves) }));
  return { open: step.open, claimedAt: only(claims), waiting: inLine };
}

export function runs(filter: RunFilter): Flow<RunRow[]> {
  const { state, workflow, tag, namespace, before, ids, root, after, limit } = filter;
  const where = [sql`1 = 1`];
  if (state) where.push(sql`${raw(RUN_STATE)} = ${state}`);
  if (workflow) where.push(sql`u.workflow = ${workflow}`);
  if (tag) where.push(hasTag(tag));
  if (namespace) where.push(sql`u.namespace = ${namespace}`);
  if (before) where.push(sql`u.id < ${before}`);
  if (ids) where.push(sql`u.id ${oneOf(ids)}`);
  if (root) where.push(sql`u.root = ${root}`);
  if (root && after) where.push(sql`u.id > ${after}`);
  if (!ids && !root) where.push(sql`u.root IS NULL`);
  const all = where.reduce((left, right) => sql`${left} AND ${right}`);
  return send(
    selectRuns(sql`WHERE ${all} ORDER BY ${raw(root ? "u.id" : "u.id DESC")} LIMIT ${whole(limit)}`),
  );
}

/** Tags are stored as the JSON text of strings, so a key with its value can appear in it in only one form. */
function hasTag(tag: string): Sql {
  const equals = tag.indexOf("=");
  const key = JSON.stringify(equals < 0 ? tag : tag.slice(0, equals));
  const part = equals < 0 ? `${key}:` : `${key}:${JSON.stringify(tag.slice(equals + 1))}`;
  return by({
    postgres: sql`strpos(u.tags, ${part}) > 0`,
    sqlite: sql`instr(u.tags, ${part}) > 0`,
    mysql: sql`INSTR(u.tags, ${part}) > 0`,
  });
}

export const laterRuns = (limit: number, offset: number): Flow<RunRow[]> =>
  send(
    selectRuns(sql`WHERE d.id IS NOT NULL ORDER BY d.at, d.id LIMIT ${whole(limit)} OFFSET ${whole(offset)}`),
  );

const whole = (number: number): Sql => raw(String(Math.trunc(number)));
