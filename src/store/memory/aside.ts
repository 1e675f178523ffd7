/** Lanes set aside: no pass looks at them until they are put back. */
import type { LaneSpec } from "../lane.ts";
import type { AsideRow, Moves, Scope, View } from "../store.ts";
import { announce, arrivals, takeIn } from "./arrival.ts";
import { pass } from "./pass.ts";
import type { AsideRecord, Tables } from "./tables.ts";
import { inLine } from "./tables.ts";

class Undone extends Error {}

/** A pass that is undone at its end. */
export function probe(tables: Tables, now: number, scope: Scope, decide: (view: View) => Moves): void {
  try {
    tables.transact(() => {
      pass(tables, now, scope, decide);
      throw new Undone();
    });
  } catch (error) {
    if (!(error instanceof Undone)) throw error;
  }
}

/** In memory a lane can always be taken in: no text is invalid here. */
export function takeInAll(tables: Tables): AsideRow[] {
  takeIn(tables, arrivals(tables));
  return [];
}

export function setAside(tables: Tables, now: number, lane: LaneSpec, error: string): void {
  for (const { seq, lane: id } of tables.arrival.all()) if (id === lane.id) tables.arrival.delete(seq);
  const known = tables.lane.get(lane.id);
  tables.lane.put(
    known
      ? { ...known, state: "aside", parked: null, stamp: known.stamp + 1 }
      : {
          ...lane,
          state: "aside",
          parked: null,
          parkedSlots: 1,
          headPrecedence: 0,
          headAt: 0,
          headId: "",
          stamp: 0,
          markUnit: null,
          markPassed: 0,
          markSince: 0,
          blocked: "[]",
          n: 0,
        },
  );
  const data = JSON.stringify({ error });
  tables.feed.other({ kind: "LaneSetAside", subject: lane.id, queue: lane.queue, data });
  if (tables.aside.has(lane.id)) return;
  const { id, queue, task, asks } = lane;
  tables.aside.insert({ lane: id, queue, task, asks, error, at: now });
}

export const asides = (tables: Tables): AsideRow[] =>
  tables.aside
    .all()
    .sort((a, b) => a.at - b.at)
    .slice(0, 200)
    .map((row) => asideRow(tables, row));

export function asideRow(tables: Tables, { lane: id, ...rest }: AsideRecord): AsideRow {
  return { id, ...rest, units: tables.waiting.of(id).length };
}

/** Finds the lane by its own id or by one of its units. */
export function restore(tables: Tables, now: number, given: string, by: string): AsideRow | undefined {
  const found = tables.aside.get(given) ?? tables.aside.get(tables.task.get(given)?.lane ?? "");
  if (!found) return undefined;
  const row = asideRow(tables, found);
  comeBack(tables, row.id);
  const [first] = tables.waiting.of(row.id).sort(inLine);
  if (first) announce(tables, [first.id]);
  const n = tables.event.of(row.id).reduce((most, event) => Math.max(most, event.n), 0) + 1;
  const lane = tables.lane.get(row.id);
  if (lane) tables.lane.put({ ...lane, n });
  tables.event.insert({ subject: row.id, n, kind: "LaneRestored", at: now, data: JSON.stringify({ by }) });
  return row;
}

/** Puts the lane back once its last unit is gone: whatever was wrong with it is gone too. */
export function forgetEmptied(tables: Tables, unit: string): void {
  const id = tables.task.get(unit)?.lane;
  if (id === undefined || !tables.aside.has(id) || tables.waiting.of(id).length > 0) return;
  if (!tables.later.all().some(({ lane }) => lane === id)) comeBack(tables, id);
}

/** The lane becomes idle. The next unit that arrives in it opens it. */
function comeBack(tables: Tables, id: string): void {
  tables.aside.delete(id);
  const lane = tables.lane.get(id);
  if (lane?.state === "aside")
    tables.lane.put({ ...lane, state: "idle", parked: null, stamp: lane.stamp + 1 });
}
