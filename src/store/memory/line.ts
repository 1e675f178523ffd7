/** One line as it stands, and the holders of a gate's slots. */
import { asksOf } from "../lane.ts";
import type { GateHolder, LineView } from "../runs.ts";
import type { LaneRow } from "../store.ts";
import { bestPerLane, laneFrom } from "./arrival.ts";
import { asideRow } from "./aside.ts";
import * as look from "./look.ts";
import { gateInfos } from "./read.ts";
import { holding } from "./stopping.ts";
import type { Tables, WaitingRecord } from "./tables.ts";
import { inLine } from "./tables.ts";

/** Includes units that no pass has taken in yet. */
export function line(tables: Tables, now: number, queue: string, limit: number, offset: number): LineView {
  const isOfQueue = ({ id }: { readonly id: string }): boolean => tables.task.get(id)?.queue === queue;
  const waiting = tables.waiting.all().filter(isOfQueue).sort(inLine);
  const until = offset + Math.trunc(limit);
  const [front, heads] = [waiting.slice(0, offset), waiting.slice(offset, until)];
  const isShown = heads.length > 0;
  const seen = isShown ? [...front, ...heads] : [];
  return {
    now,
    gates: gateInfos(tables),
    usage: look.usage(tables, now),
    lanes: lanesOf(tables, new Set(seen.map(({ lane }) => lane))),
    heads: heads.map(look.headRow),
    front: front.map(look.headRow),
    ahead: isShown ? countPerLane(tables, front) : [],
    sessions: look.alive(tables, now),
    cut: waiting.length > until,
    total: waiting.length,
    later: tables.later.all().filter(isOfQueue).length,
    aside: [...new Set(heads.map(({ lane }) => lane))].flatMap((lane) => {
      const found = tables.aside.get(lane);
      return found ? [{ ...asideRow(tables, found), units: 0 }] : [];
    }),
  };
}

export function countPerLane(tables: Tables, units: readonly WaitingRecord[]): LineView["ahead"] {
  const counts = new Map<string, { lane: string; asks: string; units: number }>();
  for (const { id, lane } of units) {
    const asks = tables.task.get(id)?.asks ?? "[]";
    counts.set(lane, { lane, asks, units: (counts.get(lane)?.units ?? 0) + 1 });
  }
  return [...counts.values()].sort((a, b) => (a.lane < b.lane ? -1 : 1));
}

/** A lane that was empty when a pass last saw it is known only from its arrivals. */
export function lanesOf(tables: Tables, ids: ReadonlySet<string>): LaneRow[] {
  const isKnown = (id: string): boolean => (tables.lane.get(id)?.state ?? "idle") !== "idle";
  const fresh = bestPerLane(tables.arrival.all()).values();
  const unseen = [...fresh].filter(({ lane }) => ids.has(lane) && !isKnown(lane));
  const lanes = [
    ...look.lanesNamed(tables, [...ids].filter(isKnown)),
    ...unseen.map((arrival) => look.laneRow(tables, laneFrom(arrival))),
  ];
  return lanes.sort((a, b) => (a.id < b.id ? -1 : 1));
}

export function holders(tables: Tables, now: number, gate: string): GateHolder[] {
  const claims = holding(tables).filter((claim) => !look.isLost(tables, now, claim));
  return claims.flatMap(({ id, lane, session, claimedAt, leaseMs, untilAt, stopping }): GateHolder[] => {
    const ask = asksOf(tables.lane.get(lane)?.asks ?? "[]").find((each) => each.gate === gate);
    const task = tables.task.get(id);
    if (!ask || !task) return [];
    const { name, run, step } = task;
    const leaseLeftMs = leaseMs === null || untilAt === null ? null : untilAt - now;
    const told = stopping ? { stopping } : {};
    return [{ id, name, run, step, slots: ask.slots, session, claimedAt, leaseLeftMs, ...told }];
  });
}
