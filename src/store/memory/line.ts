/** One line as it stands, and who holds the slots of a gate. */
import { asksOf } from "../lane.ts";
import type { GateHolder, LineView } from "../runs.ts";
import type { LaneRow } from "../store.ts";
import { bestPerLane, laneFrom } from "./arrival.ts";
import { asideRow } from "./aside.ts";
import * as look from "./look.ts";
import { gateInfos } from "./read.ts";
import { holding } from "./stopping.ts";
import type { Tables } from "./tables.ts";
import { inLine } from "./tables.ts";

/** What no pass has taken in yet stands in line all the same. */
export function line(tables: Tables, now: number, queue: string, limit: number): LineView {
  const waiting = tables.waiting
    .all()
    .filter(({ id }) => tables.task.get(id)?.queue === queue)
    .sort(inLine);
  const heads = waiting.slice(0, Math.trunc(limit)).map(look.headRow);
  return {
    now,
    gates: gateInfos(tables),
    usage: look.usage(tables, now),
    lanes: lanesOf(tables, new Set(heads.map(({ lane }) => lane))),
    heads,
    sessions: look.alive(tables, now),
    cut: waiting.length > heads.length,
    aside: [...new Set(heads.map(({ lane }) => lane))].flatMap((lane) => {
      const found = tables.aside.get(lane);
      return found ? [{ ...asideRow(tables, found), units: 0 }] : [];
    }),
  };
}

function lanesOf(tables: Tables, ids: ReadonlySet<string>): LaneRow[] {
  const fresh = bestPerLane(tables.arrival.all()).values();
  const unseen = [...fresh].filter(({ lane }) => ids.has(lane) && !tables.lane.has(lane));
  const lanes = [
    ...look.lanesNamed(tables, [...ids]),
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
