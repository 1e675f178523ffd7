/** Everything that one wait depends on, seen at one instant: what `explain` hands to the same `admit`. */
import type { Flow } from "../flow.ts";
import { flight } from "../flow.ts";
import { asksOf } from "../lane.ts";
import type { Sql } from "../sql.ts";
import { oneOf, sql } from "../sql.ts";
import type { WaitView } from "../store.ts";
import { asideRow, selectAsideAmong } from "./aside.ts";
import { laneRow } from "./lanes.ts";
import { selectHeads, selectLanes, selectNow, selectSessions, selectUsage } from "./look.ts";
import { headRow, usageRow } from "./pass.ts";
import { gateInfos, selectGates, selectTask, taskRow } from "./read.ts";
import { HOLDING, toldStopping } from "./stopping.ts";

export function* wait(id: string): Flow<WaitView | undefined> {
  const [clock = [], found = [], gates = [], usage = [], sessions = [], lanes = []] = yield* flight(
    selectNow(),
    selectTask(id),
    selectGates(),
    selectUsage(),
    selectSessions(),
    sql`SELECT id, asks FROM sluice_lane WHERE state IN (1, 2) ORDER BY head_precedence, head_at, head_id LIMIT ${NEAR}`,
  );
  if (!found[0]) return undefined;
  const task = taskRow(found[0]);
  const keys = new Set(asksOf(task.asks).map(({ gate }) => gate));
  const shares = (asks: string): boolean => asksOf(asks).some(({ gate }) => keys.has(gate));
  const near = [
    ...new Set([
      task.lane,
      ...lanes.filter((lane) => shares(lane.asks as string)).map((lane) => lane.id as string),
    ]),
  ];
  const [laneRows = [], heads = [], ahead = [], holders = [], rank = [], aside = []] = yield* flight(
    selectLanes(near),
    selectHeads(
      near.map((lane) => ({ id: lane, want: 2 })),
      { skipLocked: false, arriving: true },
    ),
    countAhead(id, near),
    selectHolders(usage.filter((row) => shares(row.asks as string)).map((row) => row.lane as string)),
    sql`SELECT queue_rank FROM sluice_queue WHERE name = ${task.queue}`,
    selectAsideAmong([task.lane]),
  );
  const known = laneRows.map(laneRow);
  const asks = new Map(known.map((lane) => [lane.id, lane.asks]));
  return {
    now: Number(clock[0]?.now),
    task,
    rank: Number(rank[0]?.queue_rank ?? 100),
    aside: aside[0] ? asideRow(aside[0]) : null,
    gates: gateInfos(gates),
    usage: usage.map(usageRow),
    lanes: known,
    heads: heads.map(headRow),
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
    ahead: ahead.map((row) => ({
      lane: row.lane as string,
      asks: asks.get(row.lane as string) ?? "[]",
      units: Number(row.units),
    })),
  };
}

/** Lanes looked at beside its own; what stands further back cannot be in front of it. */
const NEAR = sql`200`;

/** By the order of the line: rank of the queue, priority, time, id. */
const countAhead = (id: string, lanes: readonly string[]): Sql =>
  sql`SELECT o.lane, count(*) AS units FROM sluice_waiting me
    JOIN sluice_lane ml ON ml.id = me.lane LEFT JOIN sluice_queue mq ON mq.name = ml.queue
    JOIN sluice_waiting o ON o.lane ${oneOf(lanes)} JOIN sluice_lane ol ON ol.id = o.lane LEFT JOIN sluice_queue oq ON oq.name = ol.queue
    WHERE me.id = ${id} AND (COALESCE(oq.queue_rank, 100) < COALESCE(mq.queue_rank, 100) OR (COALESCE(oq.queue_rank, 100) = COALESCE(mq.queue_rank, 100)
      AND (o.precedence < me.precedence OR (o.precedence = me.precedence AND (o.at < me.at OR (o.at = me.at AND o.id < me.id))))))
    GROUP BY o.lane`;

const selectHolders = (lanes: readonly string[]): Sql =>
  sql`SELECT r.id, r.lane, r.session, r.claimed_at, r.held, r.since, r.because, t.name FROM ${HOLDING} AS r JOIN sluice_task t ON t.id = r.id
    WHERE r.lane ${oneOf(lanes)} AND r.held = 1 ORDER BY r.epoch LIMIT 50`;
