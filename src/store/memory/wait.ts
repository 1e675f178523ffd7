/** Everything that one wait depends on, read at one instant. */
import { isWholeLine } from "../../core/gate/kind.ts";
import { appsInForce } from "../declaration.ts";
import { asksOf } from "../lane.ts";
import { LANES_NEAR, wantEach } from "../near.ts";
import { distinctRivals } from "../rivals.ts";
import type { HolderRow, LaneRow, RivalRow, TaskRow, WaitView } from "../store.ts";
import { asideRow } from "./aside.ts";
import { countPerLane, lanesOf } from "./line.ts";
import * as look from "./look.ts";
import { gateInfos, task as taskOf } from "./read.ts";
import { holding } from "./stopping.ts";
import type { Spot, Tables, WaitingRecord } from "./tables.ts";
import { headOf, inLine, negated } from "./tables.ts";

const HOLDERS = 50;

export function wait(tables: Tables, now: number, id: string): WaitView | undefined {
  const task = taskOf(tables, id);
  if (!task) return undefined;
  const keys = asksOf(task.asks).map(({ gate }) => gate);
  const usage = look.usage(tables, now);
  const isInLine = task.state === "waiting" || task.state === "later" || task.state === "claimed";
  return {
    now,
    task,
    rank: look.rankOf(tables, task.queue),
    aside: asideOf(tables, task.lane),
    gates: gateInfos(tables),
    usage,
    sessions: look.alive(tables, now),
    apps: appsInForce(tables.deploy.all()),
    holders: holders(tables, new Set(usage.filter((row) => asksAny(row, keys)).map(({ lane }) => lane))),
    ...(isInLine ? standing(tables, task, keys) : NOWHERE),
  };
}

function asideOf(tables: Tables, lane: string): WaitView["aside"] {
  const found = tables.aside.get(lane);
  if (!found) return null;
  const row = { ...asideRow(tables, found), units: 0 };
  return row;
}

const asksAny = ({ asks }: { readonly asks: string }, keys: readonly string[]): boolean =>
  asksOf(asks).some(({ gate }) => keys.includes(gate));

type Standing = Pick<WaitView, "lanes" | "heads" | "ahead" | "aheadAt" | "before" | "rivals">;

const NOWHERE: Standing = { lanes: [], heads: [], ahead: [], aheadAt: {}, before: 0, rivals: [] };

/** The unit's competition: the lanes ahead of it at one of its gates, with their first units. */
function standing(tables: Tables, task: TaskRow, keys: readonly string[]): Standing {
  const me: Spot = { precedence: negated(task.priority), at: task.at, id: task.id };
  const mine = look.rankOf(tables, task.queue);
  const queueOf = (id: string): string => tables.task.get(id)?.queue ?? "";
  const isBefore = (queue: string, spot: Spot): boolean => {
    const rank = look.rankOf(tables, queue);
    return rank < mine || (rank === mine && inLine(spot, me) < 0);
  };
  const ahead = tables.waiting.all().filter((unit) => isBefore(queueOf(unit.id), unit));
  const lanes = near(tables, task.lane, keys, isBefore);
  const ids = new Set(lanes.map(({ id }) => id));
  const want = wantEach(lanes.length);
  const first = (lane: string): WaitingRecord[] => tables.waiting.of(lane).sort(inLine).slice(0, want);
  const asksFor = (gate: string) => (unit: WaitingRecord) =>
    asksAny(tables.task.get(unit.id) ?? { asks: "[]" }, [gate]);
  return {
    lanes,
    heads: lanes.flatMap(({ id }) => first(id)).map(look.headRow),
    ahead: countPerLane(
      tables,
      ahead.filter(({ lane }) => ids.has(lane)),
    ),
    aheadAt: Object.fromEntries(keys.map((gate) => [gate, ahead.filter(asksFor(gate)).length])),
    before: ahead.filter(({ id }) => queueOf(id) === task.queue).length,
    rivals: rivals(tables, keys),
  };
}

/** Each lane with a waiting unit that asks for one of these gates, wherever in line. */
function rivals(tables: Tables, keys: readonly string[]): WaitView["rivals"] {
  const lanes = new Map<string, RivalRow>();
  for (const { id, lane } of tables.waiting.all()) {
    const found = lanes.has(lane) ? undefined : tables.task.get(id);
    if (found && asksAny(found, keys))
      lanes.set(lane, { queue: found.queue, task: found.name, asks: found.asks });
  }
  return distinctRivals([...lanes.values()].slice(0, LANES_NEAR));
}

/** A lane may begin later than its arrivals say, never earlier: the database, too, takes each part by itself. */
function announced(tables: Tables) {
  const lanes = new Map<string, { id: string; queue: string; asks: string; spot: Spot }>();
  for (const { lane, queue, asks, precedence, at, unit } of tables.arrival.all()) {
    const known = lanes.get(lane)?.spot ?? { precedence, at, id: unit };
    const spot = {
      precedence: Math.min(known.precedence, precedence),
      at: Math.min(known.at, at),
      id: known.id < unit ? known.id : unit,
    };
    lanes.set(lane, { id: lane, queue, asks, spot });
  }
  return lanes.values();
}

/**
 * The best lanes that share one of its gates, the best that share a gate that not every unit asks for, and
 * its own lane.
 */
function near(
  tables: Tables,
  own: string,
  keys: readonly string[],
  isBefore: (queue: string, spot: Spot) => boolean,
): LaneRow[] {
  const known = tables.lane.all().filter(({ state }) => state !== "idle");
  const begins = [
    ...known.map(({ id, queue, asks, ...lane }) => ({
      id,
      queue,
      asks,
      spot: headOf({ id, queue, asks, ...lane }),
    })),
    ...announced(tables),
  ];
  const sharing = (gates: readonly string[]): string[] => {
    const found = begins.filter((lane) => asksAny(lane, gates) && isBefore(lane.queue, lane.spot));
    const rank = ({ queue }: { readonly queue: string }): number => look.rankOf(tables, queue);
    const inOrder = found.sort((a, b) => rank(a) - rank(b) || inLine(a.spot, b.spot));
    return [...new Set(inOrder.map(({ id }) => id))].slice(0, LANES_NEAR);
  };
  const special = keys.filter((gate) => !isWholeLine(gate));
  const isInLine = begins.some(({ id }) => id === own);
  return lanesOf(tables, new Set([...sharing(keys), ...sharing(special), ...(isInLine ? [own] : [])]));
}

function holders(tables: Tables, lanes: ReadonlySet<string>): HolderRow[] {
  const found = holding(tables).filter(({ lane }) => lanes.has(lane));
  return found.slice(0, HOLDERS).map(({ id, lane, session, claimedAt, stopping }) => {
    const name = tables.task.get(id)?.name ?? "";
    return { id, name, lane, session, since: claimedAt, held: true, ...(stopping ? { stopping } : {}) };
  });
}
