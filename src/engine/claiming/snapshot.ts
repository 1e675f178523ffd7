/** Turns rows of the store into the input of `admit`. The pass and the explanation share it. */
import type { Mark, Waiter } from "../../core/gate/admit.ts";
import type { Ask, Gate } from "../../core/gate/gate.ts";
import { bounded, room } from "../../core/gate/gate.ts";
import { familyOf, unreadableKey } from "../../core/gate/key.ts";
import { bornAs, isWholeLine } from "../../core/gate/kind.ts";
import type { Place } from "../../core/gate/order.ts";
import { compare } from "../../core/gate/order.ts";
import type { GateWorker } from "../../core/gate/workers.ts";
import { asksOf } from "../../store/lane.ts";
import type { GateRow, HeadRow, LaneRow, SessionRow, Usage, View } from "../../store/store.ts";
import { heldPerGate } from "../../store/usage.ts";
import { serving } from "./serving.ts";

export function gatesOf(rows: readonly Omit<GateRow, "locked">[], usage: readonly Usage[]): Gate[] {
  const held = heldPerGate(usage);
  return rows.map(({ key, limit, paused, line }) => ({ key, limit, paused, line, held: held.get(key) ?? 0 }));
}

/** The gates of a picture, and the gates that the next pass creates because a unit in line asks for them. */
export function everyGate(
  view: { readonly gates: readonly Omit<GateRow, "locked">[]; readonly usage: readonly Usage[] },
  asks: readonly string[],
): Gate[] {
  const known = gatesOf(view.gates, view.usage);
  const byKey = new Map(known.map((gate) => [gate.key, gate]));
  const asked = new Set(asks.flatMap((text) => asksOf(text).map(({ gate }) => gate)));
  const unborn = [...asked].filter((key) => !byKey.has(key) && key !== unreadableKey);
  return [
    ...known,
    ...unborn.map((key) => {
      const { line, limit } = bornAs(key);
      const family = byKey.get(familyOf(key) ?? "");
      return { key, limit: family?.limit ?? limit, paused: family?.paused ?? false, line, held: 0 };
    }),
  ];
}

export function workersOf(sessions: readonly SessionRow[], usage: readonly Usage[]): GateWorker[] {
  const used = new Map<string, number>();
  for (const row of usage) {
    if (!row.lost && row.held) used.set(row.session, (used.get(row.session) ?? 0) + row.units);
  }
  return sessions.map(({ id, slots }) => ({ id, slots, used: used.get(id) ?? 0 }));
}

/**
 * A lane can be decided only if each of its gates was locked by this pass or cannot bind. A gate that the
 * pass wanted to lock but that does not exist is unset: its units wait for it, and no other unit waits for
 * them.
 */
export function isReadable(
  lane: LaneRow,
  gates: ReadonlyMap<string, GateRow>,
  locked: ReadonlySet<string>,
): boolean {
  return asksOf(lane.asks).every(({ gate }) => {
    if (gate === unreadableKey) return true;
    const row = gates.get(gate);
    return row === undefined ? locked.has(gate) : row.locked || !bounded(row);
  });
}

/**
 * The place from which a gate's line is not shown: the first lane that is parked there and not part of this
 * decision. Lanes held up by the whole line do not count, because they cannot come first now.
 */
export function hiddenFrom(
  { parked = [], hidden = [] }: Pick<View, "parked" | "hidden">,
  gates: readonly Gate[],
): Map<string, Place> {
  const first = new Map<string, Place>();
  const rows = new Map(gates.map((gate) => [gate.key, gate]));
  const isHeldUp = ({ gate, slots }: Ask): boolean => {
    const row = rows.get(gate);
    return isWholeLine(gate) && row !== undefined && room(row, row.held) < slots;
  };
  for (const lane of [...parked, ...hidden]) {
    if (asksOf(lane.asks).some(isHeldUp)) continue;
    const place = placeOf(lane);
    const known = first.get(lane.parked ?? "");
    if (!known || compare(place, known) < 0) first.set(lane.parked ?? "", place);
  }
  return first;
}

export const placeOf = (lane: LaneRow): Place => ({ rank: lane.rank, ...lane.head });

/** The first place from which the picture is incomplete. */
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
  /** The store has more units of this lane than these. */
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
