/** What people do by hand: cancel a task, put a finished one back in line, change a limit. */

import type { Said } from "../../core/gate/declared.ts";
import { strictest } from "../../core/gate/declared.ts";
import type { Limit } from "../../core/gate/gate.ts";
import { familyOf } from "../../core/gate/key.ts";
import { undeclared } from "../../core/gate/kind.ts";
import type { Own } from "../family.ts";
import { inherit } from "../family.ts";
import type { Flow, Row } from "../flow.ts";
import { flight, lastFlight } from "../flow.ts";
import type { RunState } from "../runs.ts";
import { RUNS } from "../runs.ts";
import type { Dialect, Sql } from "../sql.ts";
import { by, forUpdate, now, raw, rows, sql } from "../sql.ts";
import type { FinalState, LimitChange, TaskState } from "../store.ts";
import { insertArrivalsOf } from "./arrival.ts";
import { forgetEmptied } from "./aside.ts";
import { sayingOf } from "./declare.ts";
import { archiveOutcome, insertEvents } from "./event.ts";
import { ownGate } from "./gate-row.ts";
import { cancelRun } from "./hand-run.ts";
import { insertNewsOf } from "./news.ts";
import { keepStopping } from "./stopping.ts";
import { tellEnded, tellEvents } from "./tell.ts";
import { tellGates } from "./tell-others.ts";

const PLACES = ["waiting", "later", "running"] as const;
const ROW = "id, lane, precedence, at, attempt, losses, good_until, n";

/**
 * Takes the unit from wherever it is. A unit can move between two looks, so we look again; each look locks what it
 * finds, and exactly one of cancel, claim and finish deletes the row.
 */
export function* cancel(id: string, who: string, dialect: Dialect): Flow<{ was: TaskState } | undefined> {
  const run = yield* cancelRun(id, who, dialect);
  if (run) return { was: OF_RUN[run.was] };
  for (let round = 0; round < 5; round += 1) {
    const [waiting = [], later = [], running = [], outcome = []] = yield* flight(
      selectPlace("waiting", id),
      selectPlace("later", id),
      sql`SELECT epoch, session, claimed_at, claimed_n, started_at, held, id, lane, precedence, at, attempt, losses, good_until, n FROM sluice_running WHERE id = ${id}${forUpdate}`,
      sql`SELECT state FROM sluice_outcome WHERE id = ${id}`,
    );
    const found = [waiting[0], later[0], running[0]];
    const index = found.findIndex((row) => row !== undefined);
    const row = found[index];
    if (row) {
      const place = PLACES[index] as (typeof PLACES)[number];
      const isHeld = place === "running" && Number(row.held) === 1;
      yield* lastFlight(
        ...(isHeld ? [keepStopping(sql`sluice_running r WHERE r.id = ${id}`, "r", "cancelled")] : []),
        remove(place, id),
        cancelled(row, who),
        insertNewsOf([id]),
        ...forgetEmptied(id),
        tellEnded([id]),
      );
      return {
        was: place === "running" && row.started_at === null && Number(row.held) === 0 ? "claimed" : place,
      };
    }
    if (outcome[0]) return { was: outcome[0].state as FinalState };
  }
  return undefined;
}

/** A run by the places that every unit has. */
const OF_RUN = {
  queued: "waiting",
  notStarted: "claimed",
  started: "running",
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
} as const satisfies Record<RunState, TaskState>;

const selectPlace = (place: "waiting" | "later", id: string): Sql =>
  place === "waiting"
    ? sql`SELECT ${text(ROW)} FROM sluice_waiting WHERE id = ${id}${forUpdate}`
    : sql`SELECT ${text(ROW)} FROM sluice_later WHERE id = ${id}${forUpdate}`;

const text = (sqlText: string): Sql => by({ postgres: sqlText, sqlite: sqlText, mysql: sqlText });

const remove = (place: (typeof PLACES)[number], id: string): Sql =>
  sql`DELETE FROM ${text(`sluice_${place}`)} WHERE id = ${id}`;

function cancelled(unit: Row, who: string): Sql {
  const number = (value: unknown): number | null =>
    value === undefined || value === null ? null : Number(value);
  const outcome = {
    id: unit.id as string,
    epoch: number(unit.epoch),
    attempt: Number(unit.attempt),
    losses: Number(unit.losses),
    body: JSON.stringify({ by: who }),
    session: (unit.session as string | undefined) ?? null,
    claimed_at: number(unit.claimed_at),
    claimed_n: number(unit.claimed_n),
    n: Number(unit.n) + 1,
  };
  const columns = {
    id: "text",
    epoch: "int",
    attempt: "int",
    losses: "int",
    body: "text",
    session: "text",
    claimed_at: "int",
    claimed_n: "int",
    n: "int",
  } as const;
  return sql`INSERT INTO sluice_outcome (id, state, epoch, attempt, losses, body, session, claimed_at, claimed_n, finished_at, n)
    SELECT o.id, 'cancelled', o.epoch, o.attempt, o.losses, o.body, o.session, o.claimed_at, o.claimed_n, ${now}, o.n FROM ${rows("o", columns, [outcome])}`;
}

/** A second life: attempts and losses begin anew, the history goes on. Steps and runs have another way: a rerun. */
export function* retry(id: string, who: string): Flow<{ was: TaskState } | undefined> {
  const [outcome = [], task = []] = yield* flight(
    sql`SELECT state, n FROM sluice_outcome WHERE id = ${id}${forUpdate}`,
    sql`SELECT id FROM sluice_task WHERE id = ${id} AND run IS NULL AND queue <> ${RUNS}`,
  );
  const found = outcome[0];
  if (!found || !task[0]) return undefined;
  const retried = {
    subject: id,
    n: Number(found.n) + 1,
    kind: "TaskRetried",
    data: JSON.stringify({ by: who, was: found.state }),
  };
  yield* lastFlight(
    ...archiveOutcome(id),
    sql`DELETE FROM sluice_outcome WHERE id = ${id}`,
    // Its deadline was the first life's.
    sql`DELETE FROM sluice_deadline WHERE id = ${id}`,
    sql`INSERT INTO sluice_waiting (id, lane, precedence, at, attempt, losses, good_until, n)
      SELECT id, lane, -priority, ${now}, 0, 0, NULL, ${Number(found.n) + 1} FROM sluice_task WHERE id = ${id}`,
    insertArrivalsOf([id]),
    insertEvents([retried]),
    ...tellEvents([retried]),
  );
  return { was: found.state as FinalState };
}

/** The gate's own lock is taken, so a pass sees the old limit or the new one, never both. */
export function* changeLimit(change: LimitChange): Flow<{ from: Limit; limit: Limit } | undefined> {
  const family = familyOf(change.key);
  const [found = [], told = [], said = [], above = []] = yield* flight(
    sql`SELECT capacity, declared, paused, line, lease_ms, set_by, n FROM sluice_gate WHERE name = ${change.key}${forUpdate}`,
    // A row that was deleted by plain SQL begins anew; what is on record of it goes on.
    sql`SELECT COALESCE(max(n), 0) AS n FROM sluice_event WHERE subject = ${change.key}`,
    sql`SELECT app, capacity, line, lease_ms, queue_rank, at FROM sluice_declared WHERE gate = ${change.key}`,
    sql`SELECT capacity, declared, paused, line, lease_ms, set_by FROM sluice_gate WHERE name = ${family ?? change.key}`,
  );
  const gate = found[0];
  if (!gate && change.to !== "value") return undefined;
  const n = Math.max(Number(gate?.n ?? 0), Number(told[0]?.n)) + 1;
  const born = strictest(said.map(sayingOf), undeclared(change.key));
  const before: Own = gate ? ownGate(gate) : { ...born, declared: born.limit, setBy: null, paused: false };
  const limit =
    change.to === "value" ? change.limit : change.to === "declared" ? before.declared : before.limit;
  const setBy = change.to === "value" ? change.by : change.to === "declared" ? null : before.setBy;
  const inForce = (own: Own): Limit =>
    inherit(own, family !== null && above[0] ? ownGate(above[0]) : undefined).limit;
  const answer = { from: inForce(before), limit: inForce({ ...before, limit, setBy }) };
  const changed = {
    subject: change.key,
    n,
    kind: EVENT[change.to],
    data: JSON.stringify({ by: change.by, from: answer.from, to: answer.limit }),
  };
  yield* lastFlight(
    gate ? update(change, limit, n) : insertGate(change, limit, born, n),
    insertEvents([changed]),
    ...tellGates([changed]),
  );
  return answer;
}

const EVENT = {
  value: "LimitChanged",
  declared: "LimitReset",
  paused: "GatePaused",
  resumed: "GateResumed",
} as const;

function update(change: LimitChange, limit: Limit, n: number): Sql {
  const { key } = change;
  if (change.to === "paused" || change.to === "resumed")
    return sql`UPDATE sluice_gate SET paused = ${change.to === "paused" ? 1 : 0}, n = ${n} WHERE name = ${key}`;
  const setBy = change.to === "value" ? change.by : null;
  const leaseMs = leaseOf(change);
  const lease =
    change.to === "declared"
      ? raw("lease_declared")
      : leaseMs === undefined
        ? raw("lease_ms")
        : sql`${leaseMs}`;
  return sql`UPDATE sluice_gate SET capacity = ${limit}, lease_ms = ${lease}, set_by = ${setBy}, set_at = ${now}, n = ${n} WHERE name = ${key}`;
}

const leaseOf = (change: LimitChange): number | undefined =>
  change.to === "value" ? change.leaseMs : undefined;

/** With what the apps declare for it beside the value that is set. */
const insertGate = (change: LimitChange, limit: Limit, declared: Said, n: number): Sql =>
  sql`INSERT INTO sluice_gate (name, capacity, declared, line, lease_ms, lease_declared, set_by, set_at, n) SELECT g.name, g.capacity, g.declared, g.line, g.lease_ms, g.lease_declared, g.set_by, ${now}, g.n FROM ${rows(
    "g",
    {
      name: "text",
      capacity: "int",
      declared: "int",
      line: "text",
      lease_ms: "int",
      lease_declared: "int",
      set_by: "text",
      n: "int",
    },
    [
      {
        name: change.key,
        capacity: limit,
        declared: declared.limit,
        line: declared.line,
        lease_ms: leaseOf(change) ?? declared.leaseMs,
        lease_declared: declared.leaseMs,
        set_by: change.by,
        n,
      },
    ],
  )}`;
