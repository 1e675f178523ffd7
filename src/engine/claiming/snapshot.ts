/** From what the store saw to what `admit` decides on. Shared by the claim pass and by the explanation. */
import type { Mark, Waiter } from "../../core/gate/admit.ts";
import type { Gate } from "../../core/gate/gate.ts";
import { bounded } from "../../core/gate/gate.ts";
import { unreadableKey } from "../../core/gate/key.ts";
import type { Place } from "../../core/gate/order.ts";
import { compare } from "../../core/gate/order.ts";
import type { Worker } from "../../core/gate/workers.ts";
import { asksOf } from "../../store/lane.ts";
import type { GateRow, HeadRow, LaneRow, SessionRow, Usage } from "../../store/store.ts";
import { heldPerGate } from "../../store/usage.ts";
import { serving } from "./serving.ts";

export function gatesOf(rows: readonly Omit<GateRow, "locked">[], usage: readonly Usage[]): Gate[] {
  const held = heldPerGate(usage);
  return rows.map(({ key, limit, paused, line }) => ({ key, limit, paused, line, held: held.get(key) ?? 0 }));
}

export function workersOf(sessions: readonly SessionRow[], usage: readonly Usage[]): Worker[] {
  const used = new Map<string, number>();
  for (const row of usage) {
    if (!row.lost && row.held) used.set(row.session, (used.get(row.session) ?? 0) + row.units);
  }
  return sessions.map(({ id, slots }) => ({ id, slots, used: used.get(id) ?? 0 }));
}

/** A lane can be decided on only when each of its gates was locked by this pass, or cannot bind. */
export function isReadable(lane: LaneRow, gates: ReadonlyMap<string, GateRow>): boolean {
  return asksOf(lane.asks).every(({ gate }) => {
    if (gate === unreadableKey) return true;
    const row = gates.get(gate);
    return row !== undefined && (row.locked || !bounded(row));
  });
}

export const placeOf = (lane: LaneRow): Place => ({ rank: lane.rank, ...lane.head });

/** The first place from which on the picture is not complete. */
export function horizonOf(lanes: readonly LaneRow[]): Place | undefined {
  let first: Place | undefined;
  for (const lane of lanes) {
    const place = placeOf(lane);
    if (!first || compare(place, first) < 0) first = place;
  }
  return first;
}

export interface Standing {
  readonly lane: LaneRow;
  readonly units: readonly HeadRow[];
  /** The store knows more units of this lane than these. */
  readonly cut: boolean;
}

export function waitersOf(
  standing: readonly Standing[],
  sessions: readonly SessionRow[],
  servedBy = serving,
): Waiter[] {
  return standing.flatMap(({ lane, units, cut }) => {
    const workers = servedBy(sessions, lane);
    const asks = asksOf(lane.asks);
    const mark: Mark | undefined = lane.mark ?? undefined;
    return units.map(
      (unit, index): Waiter => ({
        id: unit.id,
        lane: lane.id,
        rank: lane.rank,
        priority: unit.priority,
        at: unit.at,
        asks,
        mark,
        workers,
        queue: lane.queue,
        name: lane.task,
        frontier: cut && index === units.length - 1,
      }),
    );
  });
}
