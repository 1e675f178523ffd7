/** Everything that one wait depends on, at one instant. `explain` passes it to the same `admit` as the pass does. */
import { appsInForce } from "../declaration.ts";
import type { Flow } from "../flow.ts";
import { flight, send } from "../flow.ts";
import { asksOf } from "../lane.ts";
import type { Row } from "../row.ts";
import { flag, int, only, text } from "../row.ts";
import type { Sql } from "../sql.ts";
import { oneOf, sql } from "../sql.ts";
import type { HolderRow, RivalRow, TaskRow, WaitView } from "../store.ts";
import { selectAsideAmong } from "./aside.ts";
import { selectDeploys } from "./declare.ts";
import { gateInfos, selectGates } from "./gates.ts";
import { selectNow, selectSessions, selectUsage, unnamed } from "./look.ts";
import {
  countAhead,
  countPerLane,
  isAnnounced,
  knownIn,
  lanesFrom,
  selectFirst,
  selectLanesNamed,
  selectNear,
  selectOwn,
  selectRivals,
} from "./near.ts";
import { HOLDING, toldStopping } from "./stopping.ts";
import { selectTask, taskRows } from "./task-row.ts";

export function* wait(id: string): Flow<WaitView | undefined> {
  const { clock, tasks, gates, usage, sessions, ranks } = yield* flight({
    clock: selectNow(),
    tasks: selectTask(id),
    gates: selectGates(),
    usage: selectUsage(),
    sessions: selectSessions(),
    ranks:
      sql`SELECT q.queue_rank FROM sluice_task t JOIN sluice_queue q ON q.name = t.queue WHERE t.id = ${id}`.as(
        (row) => int(row.queue_rank),
      ),
  });
  const [task] = yield* taskRows(tasks);
  if (!task) return undefined;
  const rank = ranks[0] ?? 100;
  const keys = asksOf(task.asks).map(({ gate }) => gate);
  const shares = (asks: string): boolean => asksOf(asks).some(({ gate }) => keys.includes(gate));
  const holding = usage.filter(({ asks }) => shares(asks)).map(({ lane }) => lane);
  const { holders, aside, deploys } = yield* flight({
    deploys: selectDeploys(),
    holders: selectHolders(holding),
    aside: selectAsideAmong([task.lane]),
  });
  return {
    now: only(clock),
    task,
    rank,
    aside: aside[0] ?? null,
    gates: gateInfos(gates),
    usage,
    sessions: sessions.map(unnamed),
    apps: appsInForce(deploys),
    holders,
    ...(isInLine(task) ? yield* standing(task, rank, keys) : NOWHERE),
  };
}

const isInLine = ({ state }: TaskRow): boolean =>
  state === "waiting" || state === "later" || state === "claimed";

type Standing = Pick<WaitView, "lanes" | "heads" | "ahead" | "aheadAt" | "before" | "rivals">;

const NOWHERE: Standing = { lanes: [], heads: [], ahead: [], aheadAt: {}, before: 0, rivals: [] };

/** The competition: lanes ahead of the task at one of its gates, with their first units. */
function* standing(task: TaskRow, rank: number, keys: readonly string[]): Flow<Standing> {
  const spot = { rank, precedence: 0 - task.priority, at: task.at, id: task.id };
  const { near, rivals } = yield* flight({
    near: [selectOwn(task.lane), ...selectNear(keys, spot)],
    rivals: selectRivals(keys),
  });
  // If a lane's head is behind this place, only its arrivals were found above. Its own row is read here.
  const announced = near.filter(isAnnounced).map(({ id }) => id);
  const taken = yield* send(announced.length > 0 && selectLanesNamed(announced));
  const found = [...near, ...taken];
  const lanes = lanesFrom(found);
  const { ahead, sums, heads } = yield* flight({
    ahead: countPerLane(lanes, spot),
    sums: countAhead(task.queue, keys, spot),
    heads: selectFirst(lanes, knownIn(found)),
  });
  const asks = new Map(lanes.map((lane) => [lane.id, lane.asks]));
  const { inQueue, at } = only(sums);
  return {
    lanes,
    heads,
    ahead: ahead.map(({ lane, units }) => ({ lane, asks: asks.get(lane) ?? "[]", units })),
    aheadAt: at,
    before: inQueue,
    rivals: eachOnce(rivals),
  };
}

const eachOnce = (rivals: readonly RivalRow[]): RivalRow[] => [
  ...new Map(rivals.map((row) => [JSON.stringify([row.queue, row.task, row.asks]), row])).values(),
];

const selectHolders = (lanes: readonly string[]): Sql<HolderRow> =>
  sql`SELECT r.id, r.lane, r.session, r.claimed_at, r.held, r.since, r.because, t.name FROM ${HOLDING} AS r JOIN sluice_task t ON t.id = r.id
    WHERE r.lane ${oneOf(lanes)} AND r.held = 1 ORDER BY r.epoch LIMIT 50`.as(holderRow);

const holderRow = (row: Row): HolderRow => ({
  id: text(row.id),
  name: text(row.name),
  lane: text(row.lane),
  session: text(row.session),
  since: int(row.claimed_at),
  held: flag(row.held),
  ...toldStopping(row),
});
