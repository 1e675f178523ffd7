/** Everything that one wait depends on, seen at one instant: what `explain` hands to the same `admit`. */
import type { Flow } from "../flow.ts";
import { flight } from "../flow.ts";
import { asksOf } from "../lane.ts";
import type { Sql } from "../sql.ts";
import { oneOf, sql } from "../sql.ts";
import type { TaskRow, WaitView } from "../store.ts";
import { asideRow, selectAsideAmong } from "./aside.ts";
import { selectNow, selectSessions, selectUsage } from "./look.ts";
import {
  countAhead,
  countPerLane,
  knownIn,
  lanesFrom,
  selectFirst,
  selectLanesNamed,
  selectNear,
  selectOwn,
} from "./near.ts";
import { headRow, usageRow } from "./pass.ts";
import { gateInfos, selectGates, selectTask, taskRows } from "./read.ts";
import { HOLDING, toldStopping } from "./stopping.ts";

export function* wait(id: string): Flow<WaitView | undefined> {
  const [clock = [], found = [], gates = [], usage = [], sessions = [], ranks = []] = yield* flight(
    selectNow(),
    selectTask(id),
    selectGates(),
    selectUsage(),
    selectSessions(),
    sql`SELECT q.queue_rank FROM sluice_task t JOIN sluice_queue q ON q.name = t.queue WHERE t.id = ${id}`,
  );
  const [task] = yield* taskRows(found);
  if (!task) return undefined;
  const rank = Number(ranks[0]?.queue_rank ?? 100);
  const keys = asksOf(task.asks).map(({ gate }) => gate);
  const shares = (asks: string): boolean => asksOf(asks).some(({ gate }) => keys.includes(gate));
  const holding = usage.filter((row) => shares(row.asks as string)).map((row) => row.lane as string);
  const [holders = [], aside = []] = yield* flight(selectHolders(holding), selectAsideAmong([task.lane]));
  return {
    now: Number(clock[0]?.now),
    task,
    rank,
    aside: aside[0] ? asideRow(aside[0]) : null,
    gates: gateInfos(gates),
    usage: usage.map(usageRow),
    sessions: sessions.map((row) => ({
      id: row.id as string,
      slots: Number(row.slots),
      serves: row.serves as string,
    })),
    holders: holders.map((row) => ({
      id: row.id as string,
      name: row.name as string,
      lane: row.lane as string,
      session: row.session as string,
      since: Number(row.claimed_at),
      held: Number(row.held) === 1,
      ...toldStopping(row),
    })),
    ...(isInLine(task) ? yield* standing(task, rank, keys) : NOWHERE),
  };
}

const isInLine = ({ state }: TaskRow): boolean =>
  state === "waiting" || state === "later" || state === "claimed";

type Standing = Pick<WaitView, "lanes" | "heads" | "ahead" | "aheadAt" | "before">;

const NOWHERE: Standing = { lanes: [], heads: [], ahead: [], aheadAt: {}, before: 0 };

/** Who competes with it: the lanes that stand ahead of it at one of its gates, with their first units. */
function* standing(task: TaskRow, rank: number, keys: readonly string[]): Flow<Standing> {
  const spot = { rank, precedence: 0 - task.priority, at: task.at, id: task.id };
  const near = (yield* flight(selectOwn(task.lane), ...selectNear(keys, spot))).flat();
  // Of a lane that begins behind it, only those who have just arrived may stand ahead: its own row was not among them.
  const announced = near.filter((row) => Number(row.stamp) < 0).map((row) => row.id as string);
  const [taken = []] = announced.length > 0 ? yield* flight(selectLanesNamed(announced)) : [];
  const found = [...near, ...taken];
  const lanes = lanesFrom(found);
  const [ahead = [], sums = [], ...heads] = yield* flight(
    countPerLane(lanes, spot),
    countAhead(task.queue, keys, spot),
    ...selectFirst(lanes, knownIn(found)),
  );
  const asks = new Map(lanes.map((lane) => [lane.id, lane.asks]));
  return {
    lanes,
    heads: heads.flat().map(headRow),
    ahead: ahead.map((row) => ({
      lane: row.lane as string,
      asks: asks.get(row.lane as string) ?? "[]",
      units: Number(row.units),
    })),
    aheadAt: Object.fromEntries(keys.map((gate, index) => [gate, Number(sums[0]?.[`at_${index}`])])),
    before: Number(sums[0]?.in_queue),
  };
}

const selectHolders = (lanes: readonly string[]): Sql =>
  sql`SELECT r.id, r.lane, r.session, r.claimed_at, r.held, r.since, r.because, t.name FROM ${HOLDING} AS r JOIN sluice_task t ON t.id = r.id
    WHERE r.lane ${oneOf(lanes)} AND r.held = 1 ORDER BY r.epoch LIMIT 50`;
