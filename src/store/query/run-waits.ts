/** A run, and everything that the waits of its open steps depend on, at one instant. */
import type { Flow } from "../flow.ts";
import { flight } from "../flow.ts";
import type { Row } from "../row.ts";
import { intOrNull, only, text } from "../row.ts";
import type { NextUnit, RunWaits, StepRow } from "../runs.ts";
import { isOpenAndInLine } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { sql } from "../sql.ts";
import { selectNow, selectSessions } from "./look.ts";
import { run } from "./read-run.ts";
import { wait } from "./wait.ts";

export function* runWaits(id: string, most: number): Flow<RunWaits | undefined> {
  const detail = yield* run(id);
  if (!detail) return undefined;
  const { clock, sessions } = yield* flight({ clock: selectNow(), sessions: selectSessions() });
  const waits: RunWaits["waits"][number][] = [];
  for (const step of detail.steps) {
    const next = waits.length < most ? yield* nextOf(step) : undefined;
    const view = next && (yield* wait(next.unit));
    if (view) waits.push({ step: step.name, item: next.item, view });
  }
  return { ...detail, now: only(clock), sessions, waits };
}

function* nextOf(step: StepRow): Flow<NextUnit | undefined> {
  if (!isOpenAndInLine(step)) return undefined;
  if (!step.fan) return step.unit === null ? undefined : { unit: step.unit, item: null };
  const { lane } = step.fan;
  const { waiting, later } = yield* flight({ waiting: selectFirst(lane), later: selectSoonest(lane) });
  return waiting[0] ?? later[0];
}

const selectFirst = (lane: string): Sql<NextUnit> =>
  sql`SELECT w.id, t.item FROM sluice_waiting w JOIN sluice_task t ON t.id = w.id WHERE w.lane = ${lane} ORDER BY w.precedence, w.at, w.id LIMIT 1`.as(
    nextUnit,
  );

const selectSoonest = (lane: string): Sql<NextUnit> =>
  sql`SELECT d.id, t.item FROM sluice_later d JOIN sluice_task t ON t.id = d.id WHERE d.lane = ${lane} ORDER BY d.at, d.id LIMIT 1`.as(
    nextUnit,
  );

const nextUnit = (row: Row): NextUnit => ({ unit: text(row.id), item: intOrNull(row.item) });
