/** Writes the move of a run: its start, its gates and steps, units put in line, its end. */
import { inByteOrder } from "../../core/text.ts";
import { changesOfRun } from "../feed.ts";
import { inPortions } from "../portions.ts";
import type { NewUnit, RunMove, RunSeen } from "../runs.ts";
import { waitSubject } from "../runs.ts";
import type { Dialect, Sql } from "../sql.ts";
import { now, rows, sql } from "../sql.ts";
import { childrenIn, insertChildren, takeOver } from "./child.ts";
import { endItems, endLine, endStoppedBy } from "./end-line.ts";
import { insertTasks, putInLine } from "./enqueue.ts";
import type { EndWriting } from "./expire.ts";
import { finished } from "./run-end.ts";
import { exitOfLost, settle } from "./settle.ts";
import { isStillStopping } from "./stopping.ts";
import { insertSteps } from "./submit.ts";
import { tellEnqueued, tellMoved } from "./tell.ts";
import { tellRuns } from "./tell-others.ts";
import type { Taken } from "./wait-begin.ts";
import { beginnings, insertWaits, takeAnswers } from "./wait-begin.ts";

/** `seen` is the run before the move. */
export function writesOf(
  move: RunMove,
  seen: RunSeen | undefined,
  ending: EndWriting,
  taken: Taken,
): Sql<unknown>[] {
  const { run, epoch, start, gates, steps, enqueue, finish } = move;
  const waits = beginnings(move);
  const units = enqueue.map((unit) => bodyOf(run, unit));
  const children = seen ? childrenIn(move) : [];
  const timed = enqueue.filter(({ claimTimeoutMs }) => claimTimeoutMs !== null);
  return [
    ...(start ? began(run, epoch, start) : []),
    ...(move.claim === "rest" ? [rest(run, epoch)] : []),
    ...(move.claim === "line" ? backInLine(run, epoch, ending.dialect) : []),
    ...(gates.length > 0 ? [insertGates(run, gates)] : []),
    ...insertSteps(steps.map((step) => ({ run, ...step }))),
    ...takeAnswers(move),
    ...insertTasks(units),
    ...(seen && children.length > 0 ? insertChildren(children, seen) : []),
    ...putInLine(units),
    ...insertTimers(timed.map(({ id, claimTimeoutMs }) => ({ id, kind: "claim", after: claimTimeoutMs }))),
    ...insertTimers(move.timers.map(({ lane, afterMs }) => ({ id: lane, kind: "items", after: afterMs }))),
    ...insertTimers(waits.flatMap(timerOfWait)),
    ...(ending.quiet ? [] : tellMove(move, seen)),
    ...insertWaits(waits, taken, ending.quiet),
    ...move.endItems.flatMap((items) => endItems({ run, ...items }, ending)),
    ...(move.endLine ? endLine({ run, ...move.endLine }, ending) : []),
    ...(finish ? finished({ id: run, epoch }, finish, ending) : []),
    ...(finish && finish.state !== "succeeded" ? endStoppedBy(seen?.options, ending) : []),
  ];
}

/** A run of its own is no unit of the run that starts it. */
function bodyOf(run: string, { step, item, ...unit }: NewUnit) {
  return unit.child?.root === null ? unit : { ...unit, run, step, item };
}

/** The start of a run is reported before its first steps. */
function tellMove(move: RunMove, seen: RunSeen | undefined): Sql[] {
  return [...tellRuns(changesOfRun(move, seen)), ...tellEnqueued(move.enqueue.map(({ id }) => id))];
}

function began(
  run: string,
  epoch: number,
  { gates, timeoutMs, takeOver: taken }: NonNullable<RunMove["start"]>,
): Sql[] {
  return [
    sql`UPDATE sluice_running SET started_at = COALESCE((SELECT u.began_at FROM sluice_run u WHERE u.id = ${run}), ${now}), until_at = NULL WHERE id = ${run} AND epoch = ${epoch}`,
    ...(gates.length > 0 ? [insertGates(run, gates)] : []),
    ...(taken ? [takeOver(run, taken)] : []),
    ...(timeoutMs === null ? [] : insertTimers([{ id: run, kind: "run", after: timeoutMs }])),
  ];
}

/** A claim without slots has no lease either. It stays until the run goes on or ends. */
const rest = (run: string, epoch: number): Sql =>
  sql`UPDATE sluice_running SET held = 0, until_at = NULL WHERE id = ${run} AND epoch = ${epoch} AND NOT ${isStillStopping("sluice_running.id")}`;

function backInLine(run: string, epoch: number, dialect: Dialect): Sql<unknown>[] {
  const exit = exitOfLost({ id: run, epoch, to: "waiting", body: null });
  return [
    sql`UPDATE sluice_run SET began_at = (SELECT c.started_at FROM sluice_running c WHERE c.id = ${run} AND c.epoch = ${epoch}) WHERE id = ${run}`,
    ...settle([exit], dialect),
    tellMoved([run]),
  ];
}

/** A run's own gates are paused if the run is. */
function insertGates(run: string, gates: RunMove["gates"]): Sql {
  const born = [...gates].sort((a, b) => inByteOrder(a.key, b.key));
  return sql`INSERT INTO sluice_gate (name, capacity, declared, line, paused) SELECT g.name, g.capacity, g.capacity, 'skip', u.paused FROM ${rows(
    "g",
    { name: "text", capacity: "int" },
    born.map(({ key, limit }) => ({ name: key, capacity: limit })),
  )} JOIN sluice_run u ON u.id = ${run} WHERE NOT EXISTS (SELECT 1 FROM sluice_gate k WHERE k.name = g.name)`;
}

function timerOfWait({ run, step, wait: { until } }: ReturnType<typeof beginnings>[number]): NewTimer[] {
  if (until === null) return [];
  const id = waitSubject({ run, step });
  return "at" in until
    ? [{ id, kind: "wait", after: null, at: until.at }]
    : [{ id, kind: "wait", after: until.afterMs }];
}

/** After a time from now, or at an instant. */
interface NewTimer {
  readonly id: string;
  readonly kind: string;
  readonly after: number | null;
  readonly at?: number;
}

const insertTimers = (timers: readonly NewTimer[]): Sql[] =>
  inPortions(
    timers.map(({ id, kind, after, at = null }) => ({ id, kind, after_ms: after, at })),
    (portion) =>
      sql`INSERT INTO sluice_timer (id, kind, at) SELECT m.id, m.kind, COALESCE(m.at, ${now} + m.after_ms) FROM ${rows("m", TIMER, portion)}`,
  );

const TIMER = { id: "text", kind: "text", after_ms: "int", at: "int" } as const;
