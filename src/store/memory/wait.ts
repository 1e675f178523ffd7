/** Everything that one wait depends on, seen at one instant. */
import { asksOf } from "../lane.ts";
import type { HolderRow, WaitView } from "../store.ts";
import { asideRow } from "./aside.ts";
import * as look from "./look.ts";
import { gateInfos, task as taskOf } from "./read.ts";
import { holding } from "./stopping.ts";
import type { Tables, WaitingRecord } from "./tables.ts";
import { inLine } from "./tables.ts";

const LANES_NEAR = 200;
const HEADS_EACH = 2;
const HOLDERS = 50;

export function wait(tables: Tables, now: number, id: string): WaitView | undefined {
  const task = taskOf(tables, id);
  if (!task) return undefined;
  const keys = new Set(asksOf(task.asks).map(({ gate }) => gate));
  const shares = ({ asks }: { readonly asks: string }): boolean =>
    asksOf(asks).some(({ gate }) => keys.has(gate));
  const busy = tables.lane.all().filter(({ state }) => state === "open" || state === "parked");
  const nearby = busy.sort(look.byHead).slice(0, LANES_NEAR).filter(shares);
  const near = [...new Set([task.lane, ...nearby.map((lane) => lane.id)])];
  const usage = look.usage(tables, now);
  return {
    now,
    task,
    rank: look.rankOf(tables, task.queue),
    aside: asideOf(tables, task.lane),
    gates: gateInfos(tables),
    usage,
    lanes: look.lanesNamed(tables, near),
    heads: look.heads(
      tables,
      near.map((lane) => ({ id: lane, want: HEADS_EACH })),
    ),
    sessions: look.alive(tables, now),
    holders: holders(tables, new Set(usage.filter(shares).map(({ lane }) => lane))),
    ahead: ahead(tables, id, near),
  };
}

function asideOf(tables: Tables, lane: string): WaitView["aside"] {
  const found = tables.aside.get(lane);
  return found ? ({ ...asideRow(tables, found), units: 0 } as WaitView["aside"]) : null;
}

function holders(tables: Tables, lanes: ReadonlySet<string>): HolderRow[] {
  const found = holding(tables).filter(({ lane }) => lanes.has(lane));
  return found.slice(0, HOLDERS).map(({ id, lane, session, claimedAt, stopping }) => {
    const name = tables.task.get(id)?.name ?? "";
    return { id, name, lane, session, since: claimedAt, held: true, ...(stopping ? { stopping } : {}) };
  });
}

/** By the order of the line: rank of the queue, then the place in it. */
function ahead(tables: Tables, id: string, lanes: readonly string[]): WaitView["ahead"] {
  const me = tables.waiting.get(id);
  const mine = me && rankOfLane(tables, me.lane);
  if (!me || mine === undefined) return [];
  const isAhead = (rank: number, unit: WaitingRecord): boolean =>
    rank < mine || (rank === mine && inLine(unit, me) < 0);
  return [...lanes].sort().flatMap((lane) => {
    const rank = rankOfLane(tables, lane);
    if (rank === undefined) return [];
    const units = tables.waiting.of(lane).filter((unit) => isAhead(rank, unit)).length;
    return units > 0 ? [{ lane, asks: tables.lane.get(lane)?.asks ?? "[]", units }] : [];
  });
}

function rankOfLane(tables: Tables, id: string): number | undefined {
  const lane = tables.lane.get(id);
  return lane && look.rankOf(tables, lane.queue);
}
