/**
 * Triggers. Every change increments the stamp, under the row's own lock. A process that was evaluating the
 * trigger can then write nothing any more, so the trigger is not busy either.
 */
import type { Success } from "../../core/schedule/automation.ts";
import type { Active } from "../../core/schedule/overlap.ts";
import type { Flow } from "../flow.ts";
import { commit, flight, send } from "../flow.ts";
import type { Row } from "../row.ts";
import { flag, idOf, int, intOrNull, only, text, textOrNull, word } from "../row.ts";
import { RUNS } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { by, forUpdate, leaseNow, now, oneOf, raw, rows, sql } from "../sql.ts";
import type { Enqueued } from "../store.ts";
import type { Firing, NewTrigger, RunsOf, TriggerRow } from "../triggers.ts";
import { triggerTaken } from "../triggers.ts";
import { enqueue } from "./enqueue.ts";
import type { NewEvent } from "./event.ts";
import { insertEvents, selectLastEvent } from "./event.ts";
import { selectNow } from "./look.ts";
import { submit } from "./submit.ts";
import { tellOthers } from "./tell-others.ts";

const DECLARED = { name: "text", kind: "text", workflow: "text", spec: "text", paused: "int" } as const;

/** Declares an app's own triggers. A trigger of another app makes the whole declaration fail. */
export function* declareTriggers(app: string, triggers: readonly NewTrigger[]): Flow<void> {
  const names = triggers.map(({ name }) => name).sort();
  const known = yield* send(
    sql`SELECT name, app FROM sluice_trigger WHERE name ${oneOf(names)} OR app = ${app} ORDER BY name${forUpdate}`.as(
      (row) => ({ name: text(row.name), owner: textOrNull(row.app) }),
    ),
  );
  for (const { name, owner } of known)
    if (owner !== null && owner !== app) throw triggerTaken(name, owner, app);
  const sorted = [...triggers].sort((a, b) => (a.name < b.name ? -1 : 1));
  const list = rows(
    "t",
    DECLARED,
    sorted.map(({ name, kind, workflow, spec, paused }) => ({
      name,
      kind,
      workflow: workflow ?? "",
      spec,
      paused: paused ? 1 : 0,
    })),
  );
  const left = known.map(({ name }) => name).filter((name) => !names.includes(name));
  yield* send([
    sql`UPDATE sluice_trigger SET app = NULL, stamp = stamp + 1, busy_until = NULL WHERE name ${oneOf(left)}`,
    sql`INSERT INTO sluice_trigger (name, kind, workflow, spec, state, next_at, paused, app)
      SELECT t.name, t.kind, t.workflow, t.spec, '{}', ${now}, t.paused, ${app} FROM ${list} ${TAKE_OVER}`,
  ]);
}

/** The old values are compared first: MySQL assigns from left to right and sees its own assignments. */
function takeOver(fresh: (column: string) => string): Sql {
  const same = raw(
    `sluice_trigger.spec = ${fresh("spec")} AND sluice_trigger.workflow = ${fresh("workflow")}`,
  );
  return sql`next_at = CASE WHEN (${same}) OR sluice_trigger.next_at <= ${now} THEN sluice_trigger.next_at ELSE ${now} END,
    stamp = CASE WHEN ${same} THEN sluice_trigger.stamp ELSE sluice_trigger.stamp + 1 END,
    busy_until = CASE WHEN ${same} THEN sluice_trigger.busy_until ELSE NULL END,
    workflow = ${raw(fresh("workflow"))}, spec = ${raw(fresh("spec"))}, app = ${raw(fresh("app"))}`;
}

const TAKE_OVER = by({
  postgres: sql`ON CONFLICT (name) DO UPDATE SET ${takeOver((column) => `excluded.${column}`)}`,
  sqlite: sql`WHERE true ON CONFLICT (name) DO UPDATE SET ${takeOver((column) => `excluded.${column}`)}`,
  mysql: sql`ON DUPLICATE KEY UPDATE ${takeOver((column) => `VALUES(${column})`)}`,
});

export function* triggers(): Flow<{ now: number; triggers: TriggerRow[] }> {
  const { clock, triggers } = yield* flight({
    clock: selectNow(),
    triggers:
      sql`SELECT name, app, kind, workflow, spec, state, next_at, paused, stamp, CASE WHEN busy_until > ${leaseNow} THEN 1 ELSE 0 END AS busy FROM sluice_trigger ORDER BY name`.as(
        triggerRow,
      ),
  });
  return { now: only(clock), triggers };
}

const triggerRow = (row: Row): TriggerRow => ({
  name: text(row.name),
  app: textOrNull(row.app),
  kind: word(row.kind),
  workflow: row.workflow === "" ? null : text(row.workflow),
  spec: text(row.spec),
  state: text(row.state),
  nextAt: intOrNull(row.next_at),
  paused: flag(row.paused),
  stamp: int(row.stamp),
  busy: flag(row.busy),
});

export function* pauseTrigger(
  name: string,
  paused: boolean,
  who: string,
): Flow<{ was: boolean } | undefined> {
  const { found, events } = yield* flight({
    found: sql`SELECT paused FROM sluice_trigger WHERE name = ${name}${forUpdate}`.as((row) =>
      flag(row.paused),
    ),
    events: selectLastEvent(name),
  });
  const [was] = found;
  if (was === undefined) return undefined;
  if (was === paused) return { was };
  const event: NewEvent = {
    subject: name,
    n: only(events) + 1,
    kind: paused ? "TriggerPaused" : "TriggerResumed",
    data: JSON.stringify({ by: who }),
  };
  yield* commit([
    paused
      ? sql`UPDATE sluice_trigger SET paused = 1, stamp = stamp + 1, busy_until = NULL WHERE name = ${name}`
      : sql`UPDATE sluice_trigger SET paused = 0, stamp = stamp + 1, busy_until = NULL, next_at = ${now} WHERE name = ${name}`,
    insertEvents([event]),
    tellOthers([event]),
  ]);
  return { was };
}

export function* setTrigger(trigger: NewTrigger, who: string): Flow<{ created: boolean }> {
  const { name, kind, workflow, spec, paused } = trigger;
  const { known, events } = yield* flight({
    known: sql`SELECT name FROM sluice_trigger WHERE name = ${name}${forUpdate}`.as(idOfName),
    events: selectLastEvent(name),
  });
  const row = { name, kind, workflow: workflow ?? "", spec, paused: paused ? 1 : 0 };
  const data = JSON.stringify({ by: who, spec: { workflow, ...(JSON.parse(spec) as object) } });
  const event: NewEvent = { subject: name, n: only(events) + 1, kind: "TriggerSet", data };
  yield* commit([
    sql`INSERT INTO sluice_trigger (name, kind, workflow, spec, state, next_at, paused, app)
      SELECT t.name, t.kind, t.workflow, t.spec, '{}', ${now}, t.paused, NULL FROM ${rows("t", DECLARED, [row])} ${TAKE_OVER}`,
    insertEvents([event]),
    tellOthers([event]),
  ]);
  return { created: known.length === 0 };
}

export function* removeTrigger(name: string, who: string): Flow<boolean> {
  const { known, events } = yield* flight({
    known: sql`SELECT name FROM sluice_trigger WHERE name = ${name} AND app IS NULL${forUpdate}`.as(idOfName),
    events: selectLastEvent(name),
  });
  if (known.length === 0) return false;
  const data = JSON.stringify({ by: who });
  const event: NewEvent = { subject: name, n: only(events) + 1, kind: "TriggerRemoved", data };
  yield* commit([
    sql`DELETE FROM sluice_trigger WHERE name = ${name} AND app IS NULL`,
    insertEvents([event]),
    tellOthers([event]),
  ]);
  return true;
}

const idOfName = ({ name }: Row): string => text(name);

export function* takeTrigger(name: string, stamp: number, busyMs: number): Flow<number | undefined> {
  const found = yield* send(
    sql`SELECT stamp FROM sluice_trigger WHERE name = ${name} AND stamp = ${stamp} AND (busy_until IS NULL OR busy_until <= ${leaseNow})${forUpdate}`.as(
      stampOf,
    ),
  );
  if (found.length === 0) return undefined;
  yield* commit(
    sql`UPDATE sluice_trigger SET stamp = ${stamp + 1}, busy_until = ${leaseNow} + ${busyMs} WHERE name = ${name}`,
  );
  return stamp + 1;
}

const stampOf = ({ stamp }: Row): number => int(stamp);

/**
 * The row stays locked until the runs are submitted. A second process waits, and then finds another stamp.
 */
export function* fire(firing: Firing): Flow<Enqueued[] | undefined> {
  const { name, stamp, state, nextAt, submit: runs, enqueue: tasks = [] } = firing;
  const found = yield* send(
    sql`SELECT stamp FROM sluice_trigger WHERE name = ${name} AND stamp = ${stamp}${forUpdate}`.as(stampOf),
  );
  if (found.length === 0) return undefined;
  yield* send(
    sql`UPDATE sluice_trigger SET state = ${state}, next_at = ${nextAt}, stamp = ${stamp + 1}, busy_until = NULL WHERE name = ${name}`,
  );
  const submitted = runs.length === 0 ? [] : yield* submit(runs);
  return tasks.length === 0 ? submitted : [...submitted, ...(yield* enqueue(tasks))];
}

export const lastSuccesses = (workflows: readonly string[]): Flow<Success[]> =>
  send(
    sql`SELECT workflow, run, at FROM sluice_success WHERE workflow ${oneOf(workflows)} ORDER BY workflow`.as(
      (row) => ({ workflow: text(row.workflow), run: text(row.run), at: int(row.at) }),
    ),
  );

/** Starts from waiting and running units, never from the runs of the past. */
export function* activeRuns(of: RunsOf): Flow<Active> {
  if ("unit" in of) return yield* activeUnit(of.unit);
  const chosen = "workflow" in of ? sql`r.workflow = ${of.workflow}` : sql`r.source = ${of.source}`;
  const isOne = sql`EXISTS (SELECT 1 FROM sluice_run r WHERE r.id = u.id AND r.root IS NULL AND ${chosen})`;
  const lanes = sql`SELECT id FROM sluice_lane WHERE queue = ${RUNS} UNION SELECT lane FROM sluice_arrival WHERE queue = ${RUNS}`;
  const { queued, inProgress } = yield* flight({
    queued: [
      sql`SELECT u.id FROM sluice_waiting u WHERE u.lane IN (${lanes}) AND ${isOne} LIMIT 1`.as(idOf),
      sql`SELECT u.id FROM sluice_later u WHERE ${isOne} LIMIT 1`.as(idOf),
    ],
    inProgress: [
      sql`SELECT u.id FROM sluice_running u WHERE ${isOne} LIMIT 1`.as(idOf),
      // The run is over, but its code still runs.
      sql`SELECT u.id FROM sluice_stopping u WHERE ${isOne} LIMIT 1`.as(idOf),
    ],
  });
  return { queued: queued.length > 0, inProgress: inProgress.length > 0 };
}

function* activeUnit(id: string): Flow<Active> {
  const { queued, inProgress } = yield* flight({
    queued: [
      sql`SELECT id FROM sluice_waiting WHERE id = ${id}`.as(idOf),
      sql`SELECT id FROM sluice_later WHERE id = ${id}`.as(idOf),
    ],
    inProgress: [
      sql`SELECT id FROM sluice_running WHERE id = ${id}`.as(idOf),
      sql`SELECT id FROM sluice_stopping WHERE id = ${id}`.as(idOf),
    ],
  });
  return { queued: queued.length > 0, inProgress: inProgress.length > 0 };
}
