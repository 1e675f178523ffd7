/** Writes the move of a run: its start, its gates and steps, units put in line, its end. */
import { inByteOrder } from "../../core/text.ts";
import { changesOfRun } from "../feed.ts";
import { inPortions } from "../portions.ts";
import type { NewUnit, RunMove, RunSeen } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { now, rows, sql } from "../sql.ts";
import { childrenIn, insertChildren, takeOver } from "./child.ts";
import { insertTasks, putInLine } from "./enqueue.ts";
import type { EndWriting } from "./expire.ts";
import { endItems } from "./expire.ts";
import { finished } from "./run-end.ts";
import { insertSteps } from "./submit.ts";
import { tellEnqueued } from "./tell.ts";
import { tellRuns } from "./tell-others.ts";

/** `seen` is the run before the move. */
export function writesOf(move: RunMove, seen: RunSeen | undefined, ending: EndWriting): Sql[] {
  const { run, epoch, start, gates, steps, enqueue, finish } = move;
  const units = enqueue.map((unit) => bodyOf(run, unit));
  const children = seen ? childrenIn(move) : [];
  const timed = enqueue.filter(({ claimTimeoutMs }) => claimTimeoutMs !== null);
  return [
    ...(start ? began(run, epoch, start) : []),
    ...(gates.length > 0 ? [insertGates(run, gates)] : []),
    ...insertSteps(steps.map((step) => ({ run, ...step }))),
    ...insertTasks(units),
    ...(seen && children.length > 0 ? insertChildren(children, seen) : []),
    ...putInLine(units),
    ...insertTimers(timed.map(({ id, claimTimeoutMs }) => ({ id, kind: "claim", after: claimTimeoutMs }))),
    ...insertTimers(move.timers.map(({ lane, afterMs }) => ({ id: lane, kind: "items", after: afterMs }))),
    ...(ending.quiet ? [] : tellMove(move, seen)),
    ...move.endItems.flatMap((items) => endItems({ run, ...items }, ending)),
    ...(finish ? finished({ id: run, epoch }, finish, ending) : []),
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
    sql`UPDATE sluice_running SET started_at = ${now}, until_at = NULL WHERE id = ${run} AND epoch = ${epoch}`,
    ...(gates.length > 0 ? [insertGates(run, gates)] : []),
    ...(taken ? [takeOver(run, taken)] : []),
    ...(timeoutMs === null ? [] : insertTimers([{ id: run, kind: "run", after: timeoutMs }])),
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

const insertTimers = (
  timers: readonly { readonly id: string; readonly kind: string; readonly after: number | null }[],
): Sql[] =>
  inPortions(
    timers.map(({ id, kind, after }) => ({ id, kind, after_ms: after })),
    (portion) =>
      sql`INSERT INTO sluice_timer (id, kind, at) SELECT m.id, m.kind, ${now} + m.after_ms FROM ${rows("m", TIMER, portion)}`,
  );

const TIMER = { id: "text", kind: "text", after_ms: "int" } as const;
