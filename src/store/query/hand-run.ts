/**
 * What people and time do to runs: cancel, fail, pause, another place in line. Each takes the run's lock first, so it is
 * never half-way between two looks of `advance`; the claim of a queued run is a race, and who deletes the row wins it.
 */

import { pausedChange } from "../feed.ts";
import type { Flow, Row } from "../flow.ts";
import { flight, lastFlight } from "../flow.ts";
import type { RunState, Timer } from "../runs.ts";
import type { Dialect, Sql } from "../sql.ts";
import { forUpdate, now, oneOf, raw, sql } from "../sql.ts";
import { finished } from "./advance.ts";
import { insertArrivalsOf } from "./arrival.ts";
import { insertEvents } from "./event.ts";
import { endLater, endWaiting } from "./expire.ts";
import { selectNow } from "./look.ts";
import { insertNewsOf, insertNewsOfRuns } from "./news.ts";
import { tellEvents } from "./tell.ts";
import { tellGates, tellRuns } from "./tell-others.ts";

const lockRun = (id: string): Sql => sql`SELECT id FROM sluice_run WHERE id = ${id}${forUpdate}`;
const selectClaim = (id: string): Sql =>
  sql`SELECT epoch, started_at FROM sluice_running WHERE id = ${id}${forUpdate}`;

export function* cancelRun(
  id: string,
  who: string,
  dialect: Dialect,
  only?: "queued",
): Flow<{ was: RunState } | undefined> {
  const [known = []] = yield* flight(lockRun(id));
  if (known.length === 0) return undefined;
  const end = { state: "cancelled", body: JSON.stringify({ by: who }) } as const;
  for (let round = 0; round < 5; round += 1) {
    const [waiting = [], later = [], running = [], outcome = []] = yield* flight(
      sql`SELECT id FROM sluice_waiting WHERE id = ${id}${forUpdate}`,
      sql`SELECT id FROM sluice_later WHERE id = ${id}${forUpdate}`,
      selectClaim(id),
      sql`SELECT state FROM sluice_outcome WHERE id = ${id}`,
    );
    const claim = running[0];
    if (claim) {
      const was = claim.started_at === null ? "notStarted" : "started";
      if (only === "queued") return { was };
      yield* lastFlight(
        ...finished({ id, epoch: Number(claim.epoch) }, end, dialect),
        insertNewsOfRuns([id]),
      );
      return { was };
    }
    if (waiting[0] || later[0]) {
      yield* lastFlight(...(waiting[0] ? endWaiting(id, end, dialect) : endLater(id, end, dialect)));
      return { was: "queued" };
    }
    if (outcome[0]) return { was: runStateOf(outcome[0].state as string) };
  }
  return undefined;
}

/** A run that expired or was given up by recovery has failed. */
export const runStateOf = (final: string): RunState =>
  final === "succeeded" || final === "cancelled" ? final : "failed";

export function* failRun(id: string, error: string, dialect: Dialect): Flow<boolean> {
  const [known = []] = yield* flight(lockRun(id));
  if (known.length === 0) return false;
  const [running = []] = yield* flight(selectClaim(id));
  if (!running[0]) return false;
  const run = { id, epoch: Number(running[0].epoch) };
  yield* lastFlight(...finished(run, { state: "failed", body: error }, dialect), insertNewsOfRuns([id]));
  return true;
}

/** Every step asks one of the run's own gates: these are what is paused. */
export function* pauseRun(id: string, paused: boolean, who: string): Flow<boolean> {
  const [known = []] = yield* flight(lockRun(id));
  if (known.length === 0) return false;
  const [running = [], gates = []] = yield* flight(
    selectClaim(id),
    sql`SELECT name, capacity, paused, n FROM sluice_gate WHERE name >= ${`run:${id}/`} AND name < ${`run:${id}0`} ORDER BY name${forUpdate}`,
  );
  if (running.length === 0) return false;
  const changed = gates.filter((row) => (Number(row.paused) === 1) !== paused);
  yield* lastFlight(
    sql`UPDATE sluice_run SET paused = ${paused ? 1 : 0} WHERE id = ${id}`,
    ...(changed.length > 0 ? switched(changed, paused, who) : []),
    ...tellRuns([pausedChange(id, paused, who)]),
  );
  return true;
}

function switched(gates: readonly Row[], paused: boolean, who: string): Sql[] {
  const events = gates.map((row) => {
    const limit = row.capacity === null ? null : Number(row.capacity);
    const data = JSON.stringify({ by: who, from: limit, to: limit });
    const kind = paused ? "GatePaused" : "GateResumed";
    return { subject: row.name as string, n: Number(row.n) + 1, kind, data };
  });
  return [
    sql`UPDATE sluice_gate SET paused = ${paused ? 1 : 0}, n = n + 1 WHERE name ${oneOf(events.map(({ subject }) => subject))}`,
    insertEvents(events),
    ...tellGates(events),
  ];
}

/** Its lane is told, because its head may be another one now. */
export function* reprioritize(id: string, priority: number, who: string): Flow<{ from: number } | undefined> {
  const [waiting = [], later = []] = yield* flight(
    sql`SELECT precedence, n FROM sluice_waiting WHERE id = ${id}${forUpdate}`,
    sql`SELECT precedence, n FROM sluice_later WHERE id = ${id}${forUpdate}`,
  );
  const unit = waiting[0] ?? later[0];
  if (!unit) return undefined;
  const from = 0 - Number(unit.precedence);
  const n = Number(unit.n) + 1;
  const place = raw(waiting[0] ? "sluice_waiting" : "sluice_later");
  const moved = {
    subject: id,
    n,
    kind: "TaskReprioritized",
    data: JSON.stringify({ by: who, from, to: priority }),
  };
  yield* lastFlight(
    sql`UPDATE ${place} SET precedence = ${0 - priority}, n = ${n} WHERE id = ${id}`,
    sql`UPDATE sluice_task SET priority = ${priority} WHERE id = ${id}`,
    insertEvents([moved]),
    ...tellEvents([moved]),
    ...(waiting[0] ? [insertArrivalsOf([id])] : []),
  );
  return { from };
}

export function* failWaiting(id: string, error: string, dialect: Dialect): Flow<boolean> {
  const [waiting = []] = yield* flight(sql`SELECT id FROM sluice_waiting WHERE id = ${id}${forUpdate}`);
  if (waiting.length === 0) return false;
  yield* lastFlight(
    ...endWaiting(id, { state: "failed", body: error }, dialect),
    sql`DELETE FROM sluice_timer WHERE id = ${id}`,
    insertNewsOf([id]),
  );
  return true;
}

export function* timers(): Flow<{ due: Timer[]; nextAt: number | null; now: number }> {
  const [clock = [], due = [], next = []] = yield* flight(
    selectNow(),
    sql`SELECT id, kind, at FROM sluice_timer WHERE at <= ${now} ORDER BY at, id LIMIT 200`,
    sql`SELECT MIN(at) AS at FROM sluice_timer WHERE at > ${now}`,
  );
  return {
    now: Number(clock[0]?.now),
    due: due.map((row) => ({
      id: row.id as string,
      kind: row.kind as Timer["kind"],
      at: Number(row.at),
    })),
    nextAt: next[0]?.at == null ? null : Number(next[0].at),
  };
}

/** Only the timer that was seen: another process may have set it anew. */
export function* resetTimer({ id, kind, at }: Timer, afterMs: number | null): Flow<void> {
  const seen = sql`id = ${id} AND kind = ${kind} AND at = ${at}`;
  yield* lastFlight(
    afterMs === null
      ? sql`DELETE FROM sluice_timer WHERE ${seen}`
      : sql`UPDATE sluice_timer SET at = ${now} + ${afterMs} WHERE ${seen}`,
  );
}
