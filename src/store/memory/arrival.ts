/** Arrivals: units put in line since the last pass. Taking them in creates their lanes, queues and gates. */
import { familyOf, unreadableKey } from "../../core/gate/key.ts";
import { bornAs } from "../../core/gate/kind.ts";
import type { LaneSpec } from "../lane.ts";
import { asksOf } from "../lane.ts";
import type { ArrivalRecord, LaneRecord, Spot, Tables } from "./tables.ts";
import { headOf, inLine } from "./tables.ts";

const BATCH = 2_000;

const spotOf = ({ precedence, at, unit }: ArrivalRecord): Spot => ({ precedence, at, id: unit });

/** Announces units again that are already in line. */
export function announce(tables: Tables, ids: Iterable<string>): void {
  for (const id of [...new Set(ids)].sort()) {
    const unit = tables.waiting.get(id);
    const task = tables.task.get(id);
    if (!unit || !task) continue;
    const { lane, queue, name, asks } = task;
    const { precedence, at } = unit;
    tables.arrival.insert({ seq: tables.nextSeq(), lane, queue, task: name, asks, precedence, at, unit: id });
  }
}

export function arrivals(tables: Tables): ArrivalRecord[] {
  return tables.arrival.all().slice(0, BATCH);
}

/** Returns the lanes that were taken in, sorted by id. */
export function takeIn(tables: Tables, arrived: readonly ArrivalRecord[]): LaneSpec[] {
  for (const { seq } of arrived) tables.arrival.delete(seq);
  // A unit that arrives in a lane set aside waits there with the others.
  const welcome = arrived.filter(({ lane }) => !tables.aside.has(lane));
  const best = [...bestPerLane(welcome).values()].sort((a, b) => (a.lane < b.lane ? -1 : 1));
  for (const arrival of best) {
    for (const { gate } of asksOf(arrival.asks)) if (gate !== unreadableKey) beget(tables, gate);
    if (!tables.queue.has(arrival.queue)) tables.queue.insert({ name: arrival.queue, queueRank: 100 });
    open(tables, arrival);
  }
  return best.map(({ lane, queue, task, asks }) => ({ id: lane, queue, task, asks }));
}

export function bestPerLane(arrived: readonly ArrivalRecord[]): Map<string, ArrivalRecord> {
  const best = new Map<string, ArrivalRecord>();
  for (const arrival of arrived) {
    const known = best.get(arrival.lane);
    if (!known || inLine(spotOf(arrival), spotOf(known)) < 0) best.set(arrival.lane, arrival);
  }
  return best;
}

/** A new lane. */
export const laneFrom = (arrival: ArrivalRecord): LaneRecord => ({
  id: arrival.lane,
  queue: arrival.queue,
  task: arrival.task,
  asks: arrival.asks,
  state: "open",
  parked: null,
  parkedSlots: 1,
  ...headAt(spotOf(arrival)),
  stamp: 0,
  markUnit: null,
  markPassed: 0,
  markSince: 0,
  blocked: "[]",
  n: 0,
});

const headAt = ({ precedence, at, id }: Spot) => ({ headPrecedence: precedence, headAt: at, headId: id });

/** Creates a gate, and the family that it inherits its limit from. */
export function beget(tables: Tables, name: string): void {
  const family = familyOf(name);
  if (family !== null) beget(tables, family);
  if (tables.gate.has(name)) return;
  const { line, limit } = bornAs(name);
  const capacity = family === null ? limit : null;
  const unset = { paused: false, leaseMs: null, leaseDeclared: null, setBy: null, setAt: null, n: 0 };
  tables.gate.insert({ name, capacity, declared: capacity, line, ...unset });
}

function open(tables: Tables, arrival: ArrivalRecord): void {
  const spot = spotOf(arrival);
  const lane = tables.lane.get(arrival.lane);
  if (!lane) {
    tables.lane.insert(laneFrom(arrival));
    return;
  }
  const comesFirst = lane.state === "idle" || inLine(spot, headOf(lane)) < 0;
  const state = lane.state === "idle" ? "open" : lane.state;
  // An idle lane starts again with its first unit's asks, because its row may have been damaged.
  const asks = lane.state === "idle" ? arrival.asks : lane.asks;
  tables.lane.put({ ...lane, ...(comesFirst ? headAt(spot) : {}), asks, state, stamp: lane.stamp + 1 });
}
