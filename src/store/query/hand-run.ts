/**
 * Verbs of operators and timers on runs: cancel, fail, pause, and change the place in line. A verb that acts
 * on a run takes its lock first, so it never falls between two looks of `advance`. A cancel and a claim of a
 * queued run race: the transaction that deletes the waiting row wins.
 */
import { pausedChange } from "../feed.ts";
import type { Flow } from "../flow.ts";
import { commit, flight, send } from "../flow.ts";
import type { Row } from "../row.ts";
import { flag, idOf, int, intOrNull, only, text, word } from "../row.ts";
import type { RunState, Timer } from "../runs.ts";
import type { Dialect, Sql } from "../sql.ts";
import { forUpdate, now, oneOf, raw, sql } from "../sql.ts";
import type { NewTask } from "../store.ts";
import { insertArrivalsOf } from "./arrival.ts";
import { tellParents } from "./child.ts";
import { endStoppedBy } from "./end-line.ts";
import { insertAlso } from "./enqueue.ts";
import type { NewEvent } from "./event.ts";
import { insertEvents } from "./event.ts";
import type { EndWriting } from "./expire.ts";
import { endLater, endWaiting } from "./expire.ts";
import { selectNow } from "./look.ts";
import { insertNewsOf, insertNewsOfRuns } from "./news.ts";
import { deleteTimersOf, finished } from "./run-end.ts";
import { tellEvents } from "./tell.ts";
import { tellGates, tellRuns } from "./tell-others.ts";
import { deleteWaits } from "./wait-begin.ts";

const lockRun = (id: string): Sql<string> =>
  sql`SELECT id FROM sluice_run WHERE id = ${id}${forUpdate}`.as(idOf);

interface RunClaim {
  readonly epoch: number;
  readonly startedAt: number | null;
}

const selectClaim = (id: string): Sql<RunClaim> =>
  sql`SELECT epoch, started_at FROM sluice_running WHERE id = ${id}${forUpdate}`.as((row) => ({
    epoch: int(row.epoch),
    startedAt: intOrNull(row.started_at),
  }));

const selectWaiting = (id: string): Sql<string> =>
  sql`SELECT id FROM sluice_waiting WHERE id = ${id}${forUpdate}`.as(idOf);

export const selectOptions = (id: string): Sql<string> =>
  sql`SELECT options FROM sluice_task WHERE id = ${id}`.as(({ options }) => text(options));

/** One row if the run was in progress, gave its slots back and went back in line. */
const selectBegan = (id: string): Sql<string> =>
  sql`SELECT id FROM sluice_run WHERE id = ${id} AND began_at IS NOT NULL`.as(idOf);

/** What such a run leaves behind when it ends in line. None of its steps has a unit that has not ended. */
const afterwards = (id: string): Sql[] => [deleteTimersOf(id), ...deleteWaits(id), insertNewsOfRuns([id])];

/** Locks a run. Returns false if there is none. */
function* holdRun(id: string): Flow<boolean> {
  const known = yield* send(lockRun(id));
  return known.length > 0;
}

/** These verbs are rare, so the statements themselves check whether there is a listener. */
const ending = (dialect: Dialect): EndWriting => ({ dialect, quiet: false });

export function* cancelRun(
  id: string,
  who: string,
  dialect: Dialect,
  which?: "queued",
): Flow<{ was: RunState } | undefined> {
  if (!(yield* holdRun(id))) return undefined;
  const end = { state: "cancelled", body: JSON.stringify({ by: who }) } as const;
  for (let round = 0; round < 5; round += 1) {
    const { waiting, later, running, outcome, began, options } = yield* flight({
      options: selectOptions(id),
      waiting: selectWaiting(id),
      later: sql`SELECT id FROM sluice_later WHERE id = ${id}${forUpdate}`.as(idOf),
      running: selectClaim(id),
      began: selectBegan(id),
      outcome: sql`SELECT state FROM sluice_outcome WHERE id = ${id}`.as(({ state }) => text(state)),
    });
    const [claim] = running;
    if (claim) {
      const was = claim.startedAt === null ? "notStarted" : "started";
      if (which === "queued") return { was };
      yield* commit([
        finished({ id, epoch: claim.epoch }, end, ending(dialect)),
        endStoppedBy(options[0], ending(dialect)),
        insertNewsOfRuns([id]),
      ]);
      return { was };
    }
    if (waiting.length + later.length > 0) {
      yield* commit([
        waiting.length > 0 ? endWaiting(id, end, ending(dialect)) : endLater(id, end, ending(dialect)),
        began.length > 0 && afterwards(id),
        tellParents([id]),
        endStoppedBy(options[0], ending(dialect)),
      ]);
      return { was: "queued" };
    }
    const [final] = outcome;
    if (final !== undefined) return { was: runStateOf(final) };
  }
  return undefined;
}

/** A run that expired or was given up by recovery counts as failed. */
const runStateOf = (final: string): RunState =>
  final === "succeeded" || final === "cancelled" ? final : "failed";

export function* failRun(id: string, error: string, dialect: Dialect, handler?: NewTask): Flow<boolean> {
  if (!(yield* holdRun(id))) return false;
  const { claims, waiting, began, options } = yield* flight({
    options: selectOptions(id),
    claims: selectClaim(id),
    waiting: selectWaiting(id),
    began: selectBegan(id),
  });
  const [claim] = claims;
  if (!claim && waiting.length > 0 && began.length > 0) {
    const end = endWaiting(id, { state: "failed", body: error }, ending(dialect));
    const stopped = endStoppedBy(options[0], ending(dialect));
    yield* commit([end, afterwards(id), tellParents([id]), stopped, insertAlso(handler ? [handler] : [])]);
    return true;
  }
  if (!claim) return false;
  const run = { id, epoch: claim.epoch };
  yield* commit([
    finished(run, { state: "failed", body: error, handler }, ending(dialect)),
    endStoppedBy(options[0], ending(dialect)),
    insertNewsOfRuns([id]),
  ]);
  return true;
}

/** Pauses the run's own gates: every step asks for one of them. */
export function* pauseRun(id: string, paused: boolean, who: string): Flow<boolean> {
  if (!(yield* holdRun(id))) return false;
  const { running, gates } = yield* flight({
    running: selectClaim(id),
    gates:
      sql`SELECT name, capacity, paused, n FROM sluice_gate WHERE name >= ${`run:${id}/`} AND name < ${`run:${id}0`} ORDER BY name${forUpdate}`.as(
        runGate,
      ),
  });
  if (running.length === 0) return false;
  const changed = gates.filter((gate) => gate.paused !== paused);
  yield* commit([
    sql`UPDATE sluice_run SET paused = ${paused ? 1 : 0} WHERE id = ${id}`,
    changed.length > 0 && switched(changed, paused, who),
    tellRuns([pausedChange(id, paused, who)]),
    // A step that would have begun to wait during the pause begins now.
    !paused && insertNewsOfRuns([id]),
  ]);
  return true;
}

interface RunGate {
  readonly key: string;
  readonly limit: number | null;
  readonly paused: boolean;
  readonly n: number;
}

const runGate = (row: Row): RunGate => ({
  key: text(row.name),
  limit: intOrNull(row.capacity),
  paused: flag(row.paused),
  n: int(row.n),
});

function switched(gates: readonly RunGate[], paused: boolean, who: string): Sql[] {
  const events = gates.map(({ key, limit, n }): NewEvent => {
    const data = JSON.stringify({ by: who, from: limit, to: limit });
    const kind = paused ? "GatePaused" : "GateResumed";
    return { subject: key, n: n + 1, kind, data };
  });
  return [
    sql`UPDATE sluice_gate SET paused = ${paused ? 1 : 0}, n = n + 1 WHERE name ${oneOf(events.map(({ subject }) => subject))}`,
    ...insertEvents(events),
    ...tellGates(events),
  ];
}

/** The unit's lane gets an arrival, because its head may have changed. */
export function* reprioritize(id: string, priority: number, who: string): Flow<{ from: number } | undefined> {
  const inLine = (row: Row) => ({ priority: 0 - int(row.precedence), n: int(row.n) });
  const { waiting, later } = yield* flight({
    waiting: sql`SELECT precedence, n FROM sluice_waiting WHERE id = ${id}${forUpdate}`.as(inLine),
    later: sql`SELECT precedence, n FROM sluice_later WHERE id = ${id}${forUpdate}`.as(inLine),
  });
  const unit = waiting[0] ?? later[0];
  if (!unit) return undefined;
  const from = unit.priority;
  const n = unit.n + 1;
  const place = raw(waiting[0] ? "sluice_waiting" : "sluice_later");
  const moved: NewEvent = {
    subject: id,
    n,
    kind: "TaskReprioritized",
    data: JSON.stringify({ by: who, from, to: priority }),
  };
  yield* commit([
    sql`UPDATE ${place} SET precedence = ${0 - priority}, n = ${n} WHERE id = ${id}`,
    sql`UPDATE sluice_task SET priority = ${priority} WHERE id = ${id}`,
    insertEvents([moved]),
    tellEvents([moved]),
    waiting.length > 0 && insertArrivalsOf([id]),
  ]);
  return { from };
}

export function* failWaiting(id: string, error: string, dialect: Dialect, handler?: NewTask): Flow<boolean> {
  const { waiting, options } = yield* flight({ waiting: selectWaiting(id), options: selectOptions(id) });
  if (waiting.length === 0) return false;
  yield* commit([
    endWaiting(id, { state: "failed", body: error }, ending(dialect)),
    sql`DELETE FROM sluice_timer WHERE id = ${id}`,
    insertNewsOf([id]),
    endStoppedBy(options[0], ending(dialect)),
    insertAlso(handler ? [handler] : []),
  ]);
  return true;
}

export function* timers(): Flow<{ due: Timer[]; nextAt: number | null; now: number }> {
  const { clock, due, next } = yield* flight({
    clock: selectNow(),
    due: sql`SELECT id, kind, at FROM sluice_timer WHERE at <= ${now} ORDER BY at, id LIMIT 200`.as(timerRow),
    next: sql`SELECT MIN(at) AS at FROM sluice_timer WHERE at > ${now}`.as(({ at }) => intOrNull(at)),
  });
  return { now: only(clock), due, nextAt: only(next) };
}

const timerRow = (row: Row): Timer => ({ id: text(row.id), kind: word(row.kind), at: int(row.at) });

/** Changes only the timer that was seen. Another process may have set it again. */
export function* resetTimer({ id, kind, at }: Timer, afterMs: number | null): Flow<void> {
  const seen = sql`id = ${id} AND kind = ${kind} AND at = ${at}`;
  yield* commit(
    afterMs === null
      ? sql`DELETE FROM sluice_timer WHERE ${seen}`
      : sql`UPDATE sluice_timer SET at = ${now} + ${afterMs} WHERE ${seen}`,
  );
}
