/**
 * Chooses the parked lanes that a pass sees: only those of gates with room, and no more than could start.
 * Waiting at a full gate costs nothing, however many lanes wait.
 */
import { room, UNLIMITED } from "../core/gate/gate.ts";
import { asksOf } from "./lane.ts";
import type { GateRow, LaneRow, Usage } from "./store.ts";
import { heldPerGate } from "./usage.ts";

export interface ParkedList {
  readonly gate: string;
  readonly queue: string;
  /** Lanes whose `parkedSlots` are outside of these bounds are left out. */
  readonly least: number;
  readonly most: number;
  readonly take: number;
}

export interface ParkedLists {
  /** Lanes that fit, and one more to tell whether the list was cut. */
  readonly fitting: readonly ParkedList[];
  /** The first lanes that could ever start, for gates whose line may keep slots for them. */
  readonly fronts: readonly ParkedList[];
}

/** The most lanes of one gate and queue in one pass. The next pass sees the rest. */
const MOST_AT_ONCE = 16;
const FRONT = 2;
/** The most lists in one pass, own queues first. The poll finds the rest. A union in SQLite has at most 500 parts. */
const MOST_LISTS = 200;
const ANY_NUMBER = 2 ** 31 - 1;

export function parkedLists(
  parkedAt: readonly { readonly gate: string; readonly queue: string }[],
  queues: readonly string[],
  gates: readonly GateRow[],
  usage: readonly Usage[],
): ParkedLists {
  const held = heldPerGate(usage);
  const rows = new Map(gates.map((gate) => [gate.key, gate]));
  const open = parkedAt.flatMap(({ gate, queue }) => {
    const row = rows.get(gate);
    const free = row ? Math.min(ANY_NUMBER, room(row, held.get(gate) ?? 0)) : 0;
    return row && free > 0 ? [{ gate, row, free, first: queue }] : [];
  });
  const lists = [
    ...open.map((each) => ({ ...each, queue: each.first })),
    ...queues.flatMap((queue) => open.flatMap((each) => (each.first === queue ? [] : [{ ...each, queue }]))),
  ].slice(0, MOST_LISTS);
  const fitting = lists.map(({ gate, queue, free }) => ({
    gate,
    queue,
    least: -free,
    most: free,
    take: Math.min(free, MOST_AT_ONCE) + 1,
  }));
  const fronts = lists.flatMap(({ gate, queue, row: { line, limit } }) =>
    line === "skip" || limit === UNLIMITED || limit === null
      ? []
      : [{ gate, queue, least: 1, most: limit, take: FRONT }],
  );
  return { fitting, fronts };
}

/** The lanes of these lists that are shown in addition to the named ones, and the first lane that each list cut off. */
export function parkedView(
  { fitting }: ParkedLists,
  found: { readonly fitting: readonly LaneRow[]; readonly fronts: readonly LaneRow[] },
  named: readonly string[],
): { parked: LaneRow[]; hidden: LaneRow[] } {
  const parked = new Map<string, LaneRow>();
  const hidden: LaneRow[] = [];
  const lists = new Map<string, LaneRow[]>();
  for (const lane of [...found.fitting].sort(byHead)) {
    const list = lists.get(listOf(lane.parked ?? "", lane.queue));
    if (list) list.push(lane);
    else lists.set(listOf(lane.parked ?? "", lane.queue), [lane]);
  }
  const free = new Map<string, number>();
  for (const { gate, queue, most, take } of fitting) {
    free.set(gate, most);
    const list = lists.get(listOf(gate, queue)) ?? [];
    for (const lane of list.slice(0, take - 1)) parked.set(lane.id, lane);
    hidden.push(...list.slice(take - 1, take));
  }
  for (const lane of found.fronts) {
    const isLarge = slotsAt(lane, lane.parked ?? "") > (free.get(lane.parked ?? "") ?? 0);
    if (isLarge && !named.includes(lane.id)) parked.set(lane.id, lane);
  }
  return { parked: [...parked.values()], hidden };
}

const listOf = (gate: string, queue: string): string => JSON.stringify([gate, queue]);

export const slotsAt = ({ asks }: Pick<LaneRow, "asks">, gate: string): number =>
  asksOf(asks).find((ask) => ask.gate === gate)?.slots ?? 1;

/**
 * The slots that a lane asks for at the gate it parks on. They are negative if the lane keeps no place there, because
 * then no line ever reserves slots for it.
 */
export function parkedSlots({ asks }: Pick<LaneRow, "asks">, gate: string): number {
  const { slots, line } = asksOf(asks).find((ask) => ask.gate === gate) ?? { slots: 1 };
  return line === "skip" ? -slots : slots;
}

const byHead = ({ head: a }: LaneRow, { head: b }: LaneRow): number =>
  b.priority - a.priority || a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
