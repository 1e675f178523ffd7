/**
 * The decision at locks that several engines share. It is the decision of every other gate: the rows of the
 * sync database become a snapshot, and `admit` walks it. So the order, the front rule and the reasons of a
 * shared lock are those of a local one.
 *
 * A held row counts for ever, whatever became of its controller. A pending row counts only while its
 * controller is alive.
 */
import type { Plan, Waiter } from "../gate/admit.ts";
import { admit } from "../gate/admit.ts";
import type { Ask, Gate } from "../gate/gate.ts";
import { inOrder } from "../gate/order.ts";
import { limitNameOf } from "./lock.ts";

/** One row of the table of states: a unit that holds a lock or waits for it. */
export interface SharedRow {
  readonly name: string;
  /** The unit, as its controller names it. */
  readonly key: string;
  readonly controller: string;
  readonly held: boolean;
  readonly priority: number;
  /** When the unit was created, by the clock of the sync database. */
  readonly at: number;
  readonly slots: number;
  /** The number of the intent for which the lock was taken. 0 for a row that waits. */
  readonly intent: number;
  /** Its controller has had a heartbeat within the inactivity time. */
  readonly live: boolean;
}

/** Rows and limits of some locks, and of every lock that a unit in one of their lines also waits for. */
export interface SharedView {
  readonly now: number;
  readonly rows: readonly SharedRow[];
  /** The limits of semaphores by NAMESPACE/KEY. A semaphore without a limit is missing. */
  readonly limits: ReadonlyMap<string, number>;
}

/** One unit of one controller. Equal times are ordered by key, and equal keys by controller. */
export const sharedId = ({ key, controller }: Pick<SharedRow, "key" | "controller">): string =>
  `${key}\0${controller}`;

export function limitOf({ limits }: Pick<SharedView, "limits">, lock: string): number | null {
  const name = limitNameOf(lock);
  return name === undefined ? 1 : (limits.get(name) ?? null);
}

/** The units that may take all of their locks now, and why the others may not. */
export const decideShared = (view: SharedView): Plan =>
  admit({ now: view.now, gates: gatesOf(view), line: waitersOf(view.rows) });

function gatesOf(view: SharedView): Gate[] {
  const held = new Map<string, number>(view.rows.map(({ name }) => [name, 0]));
  for (const row of view.rows) if (row.held) held.set(row.name, (held.get(row.name) ?? 0) + row.slots);
  return [...held].map(([key, slots]) => ({
    key,
    limit: limitOf(view, key),
    paused: false,
    line: "strict" as const,
    held: slots,
  }));
}

function waitersOf(rows: readonly SharedRow[]): Waiter[] {
  const units = new Map<string, SharedRow[]>();
  for (const row of rows) {
    if (row.held || !row.live) continue;
    const id = sharedId(row);
    units.set(id, [...(units.get(id) ?? []), row]);
  }
  return [...units].map(([id, own]): Waiter => {
    const asks: Ask[] = own.map(({ name, slots }) => ({ gate: name, slots }));
    const priority = Math.max(...own.map((row) => row.priority));
    return { id, lane: id, rank: 0, priority, at: Math.min(...own.map(({ at }) => at)), asks };
  });
}

/** The units in line at a lock, in order. */
export function lineAt(view: SharedView, lock: string): SharedRow[] {
  const rows = view.rows.filter((row) => row.name === lock && !row.held && row.live);
  const byId = new Map(rows.map((row) => [sharedId(row), row]));
  const places = rows.map((row) => ({ rank: 0, priority: row.priority, at: row.at, id: sharedId(row) }));
  return inOrder(places).flatMap(({ id }) => byId.get(id) ?? []);
}
