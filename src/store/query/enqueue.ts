/**
 * Enqueue only inserts. Apart from MariaDB's door, it waits only for another transaction that inserts the same key,
 * and only such a transaction waits for it.
 */
import type { Flow } from "../flow.ts";
import { commit, flight } from "../flow.ts";
import { inPortions } from "../portions.ts";
import { idOf, text, textOrNull } from "../row.ts";
import type { Sql } from "../sql.ts";
import { by, now, oneOf, raw, rows, sql } from "../sql.ts";
import type { Enqueued, NewTask } from "../store.ts";
import { insertArrivalsOf } from "./arrival.ts";
import { tellEnqueued } from "./tell.ts";

export function* enqueue(tasks: readonly NewTask[]): Flow<Enqueued[]> {
  const keyed = tasks.filter(({ key }) => key !== null);
  if (keyed.length === 0) {
    yield* commit([insertTasks(tasks), putInLine(tasks), tell(tasks)]);
    return tasks.map(({ id }) => ({ id, created: true }));
  }
  const { mine, known } = yield* flight({
    inserted: insertTasks(tasks),
    mine: selectIds(tasks),
    known: selectKeys(keyed),
  });
  const inserted = new Set(mine);
  const created = tasks.filter(({ id }) => inserted.has(id));
  yield* commit(created.length > 0 && [putInLine(created), tell(created)]);
  return answersTo(tasks, inserted, known);
}

const tell = (tasks: readonly NewTask[]): Sql[] => tellEnqueued(idsOf(tasks));

/** Tasks without a key, as a part of another transaction. */
export const insertAlso = (tasks: readonly NewTask[]): Sql[] =>
  tasks.length === 0 ? [] : [...insertTasks(tasks), ...putInLine(tasks), ...tell(tasks)];

/**
 * A second try after a lost answer. The first try may still arrive, even while this one waits for its rows.
 * So tasks that already have a place are not put in line again.
 */
export function* enqueueAgain(tasks: readonly NewTask[]): Flow<Enqueued[]> {
  const keyed = tasks.filter(({ key }) => key !== null);
  const { mine, known, placed } = yield* flight({
    inserted: insertTasks(tasks),
    mine: selectIds(tasks),
    known: selectKeys(keyed),
    placed: selectPlaced(tasks),
  });
  const inserted = new Set(mine);
  const created = placed.length > 0 ? [] : tasks.filter(({ id }) => inserted.has(id));
  yield* commit(created.length > 0 && [putInLine(created), tell(created)]);
  return answersTo(tasks, inserted, known);
}

/** All places where a task can be once it was put in line. */
export const selectPlaced = (tasks: readonly NewTask[]): Sql<string>[] =>
  inPortions(idsOf(tasks), selectAmong, 4);

function selectAmong(ids: readonly string[]): Sql<string> {
  const among = oneOf(ids);
  return sql`SELECT id FROM sluice_waiting WHERE id ${among} UNION ALL SELECT id FROM sluice_later WHERE id ${among}
    UNION ALL SELECT id FROM sluice_running WHERE id ${among} UNION ALL SELECT id FROM sluice_outcome WHERE id ${among}`.as(
    idOf,
  );
}

const idsOf = (tasks: readonly NewTask[]): string[] => tasks.map(({ id }) => id);

/** Finds out what became of an enqueue whose answer was lost: either all tasks were put in line, or none. */
export function* enqueued(tasks: readonly NewTask[]): Flow<Enqueued[] | undefined> {
  const { mine, known } = yield* flight({
    mine: selectIds(tasks),
    known: selectKeys(tasks.filter(({ key }) => key !== null)),
  });
  return mine.length === 0 ? undefined : answersTo(tasks, new Set(mine), known);
}

/** A task with its idempotency key. */
type Keyed = Pick<NewTask, "id" | "name" | "key">;

/** A task that was not inserted has a twin that was there before. */
export function answersTo(
  tasks: readonly NewTask[],
  inserted: ReadonlySet<string>,
  known: readonly Keyed[],
): Enqueued[] {
  return tasks.map(({ id, name, key }) => {
    if (inserted.has(id)) return { id, created: true };
    const twin = known.find((each) => each.name === name && each.key === key);
    return { id: twin?.id ?? id, created: false };
  });
}

export const selectIds = (tasks: readonly NewTask[]): Sql<string>[] =>
  inPortions(idsOf(tasks), (ids) => sql`SELECT id FROM sluice_task WHERE id ${oneOf(ids)}`.as(idOf));

export const selectKeys = (tasks: readonly NewTask[]): Sql<Keyed>[] =>
  inPortions(
    tasks.map(({ name, key }) => ({ name, key })),
    (keyed) =>
      sql`SELECT id, name, idem_key FROM sluice_task WHERE name ${oneOf([...new Set(keyed.map(({ name }) => name))])} AND idem_key ${oneOf(keyed.flatMap(({ key }) => key ?? []))}`.as(
        (row) => ({ id: text(row.id), name: text(row.name), key: textOrNull(row.idem_key) }),
      ),
  );

const goodUntil = sql`CASE WHEN t.good_for IS NULL THEN t.good_until ELSE ${now} + t.good_for END`;

/** A body with its run and step. */
interface Body extends NewTask {
  readonly run?: string;
  readonly step?: string;
  readonly item?: number | undefined;
}

const BODY = {
  id: "text",
  name: "text",
  queue: "text",
  lane: "text",
  asks: "text",
  priority: "int",
  input: "text",
  options: "text",
  idem_key: "text",
  good_until: "int",
  good_for: "int",
} as const;

/** Most tasks belong to no run. For them, the columns of a step are left out. */
export function insertTasks(tasks: readonly Body[]): Sql[] {
  const isOfRun = tasks.some(({ run }) => run !== undefined);
  return inPortions(tasks.map(bodyOf), (bodies) => insertBodies(bodies, isOfRun));
}

const bodyOf = (task: Body) => ({
  id: task.id,
  name: task.name,
  queue: task.lane.queue,
  lane: task.lane.id,
  asks: task.lane.asks,
  priority: task.priority,
  input: task.input,
  options: task.options,
  idem_key: task.key,
  good_until: task.goodUntil,
  good_for: task.goodForMs,
  run: task.run ?? null,
  step: task.step ?? null,
  item: task.item ?? null,
});

function insertBodies(bodies: readonly ReturnType<typeof bodyOf>[], isOfRun: boolean): Sql {
  const list = rows("t", isOfRun ? { ...BODY, run: "text", step: "text", item: "int" } : BODY, bodies);
  const into = raw(isOfRun ? ", run, step, item" : "");
  const from = raw(isOfRun ? ", t.run, t.step, t.item" : "");
  return sql`INSERT INTO sluice_task (id, name, queue, lane, asks, priority, input, options, idem_key, good_until, created_at${into})
    SELECT t.id, t.name, t.queue, t.lane, t.asks, t.priority, t.input, t.options, t.idem_key, ${goodUntil}, ${now}${from} FROM ${list} ${by(
      {
        postgres: "ON CONFLICT (name, idem_key) DO NOTHING",
        sqlite: "WHERE true ON CONFLICT (name, idem_key) DO NOTHING",
        mysql: "ON DUPLICATE KEY UPDATE sluice_task.id = sluice_task.id",
      },
    )}`;
}

export function putInLine(tasks: readonly NewTask[]): Sql[] {
  const delayed = tasks.filter(({ runAt, delayMs }) => runAt !== null || delayMs !== null);
  const ready = tasks.filter(({ runAt, delayMs }) => runAt === null && delayMs === null);
  const statements: Sql[] = [];
  statements.push(...inPortions(ready.map(placeOf), insertWaiting));
  statements.push(...inPortions(firstOfEachLane(ready), insertArrivalsOf));
  statements.push(...inPortions(delayed.map(placeOf), insertLater));
  if (tasks.some((task) => task.goodUntil !== null || task.goodForMs !== null))
    statements.push(...inPortions(idsOf(tasks), insertDeadlines));
  return statements;
}

const PLACE = {
  id: "text",
  lane: "text",
  precedence: "int",
  good_until: "int",
  good_for: "int",
  run_at: "int",
  delay: "int",
} as const;

const placeOf = (task: NewTask) => ({
  id: task.id,
  lane: task.lane.id,
  precedence: 0 - task.priority,
  good_until: task.goodUntil,
  good_for: task.goodForMs,
  run_at: task.runAt,
  delay: task.delayMs,
});

type Place = ReturnType<typeof placeOf>;

const insertWaiting = (places: readonly Place[]): Sql =>
  sql`INSERT INTO sluice_waiting (id, lane, precedence, at, attempt, losses, good_until, n)
    SELECT t.id, t.lane, t.precedence, ${now}, 0, 0, ${goodUntil}, 1 FROM ${rows("t", PLACE, places)}`;

const insertLater = (places: readonly Place[]): Sql =>
  sql`INSERT INTO sluice_later (id, lane, precedence, at, attempt, losses, good_until, n, because)
    SELECT t.id, t.lane, t.precedence, COALESCE(t.run_at, ${now} + t.delay), 0, 0, ${goodUntil}, 1, 'delay' FROM ${rows("t", PLACE, places)}`;

const insertDeadlines = (ids: readonly string[]): Sql =>
  sql`INSERT INTO sluice_deadline (id, at) SELECT t.id, t.good_until FROM sluice_task t WHERE t.id ${oneOf(ids)} AND t.good_until IS NOT NULL`;

/** The first unit of each lane among these tasks. */
function firstOfEachLane(tasks: readonly NewTask[]): string[] {
  const best = new Map<string, NewTask>();
  for (const task of tasks) {
    const known = best.get(task.lane.id);
    if (!known || task.priority > known.priority || (task.priority === known.priority && task.id < known.id))
      best.set(task.lane.id, task);
  }
  return [...best.values()].map(({ id }) => id);
}
