/**
 * Adds what the app declares to what the product has recorded. Windows of lists and mutexes become gates of
 * our own, and every unit asks for its pools. The same sweep then finds a unit that forgot to ask for one.
 */
import { POOLS_OF, WINDOW } from "../app/limits.ts";
import type { Asks, Audited, Tables } from "../history.ts";

export interface Said {
  readonly audit: readonly Audited[];
  readonly lanes: ReadonlyMap<string, Asks>;
}

export function asTheAppSays(
  audit: readonly Audited[],
  tables: Tables,
  laneOf: ReadonlyMap<string, string>,
): Said {
  const limits = new Map<string, number>();
  const lanes = new Map(tables.lanes);
  const asks = (unit: string, gate: string, slots: number): void => {
    const lane = laneOf.get(unit);
    if (lane !== undefined) lanes.set(lane, { ...lanes.get(lane), [gate]: slots });
  };
  const add = (unit: string, gate: string, limit: number): void => {
    limits.set(gate, limit);
    asks(unit, gate, 1);
  };
  const workflows = new Map(tables.runs.map(({ id, workflow }) => [id, workflow]));
  for (const { id, name, run, step, item } of tables.tasks) {
    for (const [pool, slots] of Object.entries(POOLS_OF[name] ?? {})) asks(id, `pool:${pool}`, slots);
    if (item !== null) add(id, `said window of ${run} ${step}`, WINDOW);
    if (step === "last") add(id, "said mutex stamp", 1);
    // Its steps follow each other, so the mutex of the run lets in one of them at a time, of all runs.
    if (run !== null && workflows.get(run) === "solo") add(id, "said inside of solo", 1);
  }
  for (const { id, workflow } of tables.runs) if (workflow === "solo") add(id, "said mutex solo", 1);
  const said = [...limits].map(
    ([gate, capacity]): Audited => ({ kind: "limit", at: 0, stamp: 0, gate, capacity, paused: false }),
  );
  return { audit: [...said, ...audit], lanes };
}

/** The lane of each unit that was ever claimed. */
export function lanesOfUnits(audit: readonly Audited[]): Map<string, string> {
  return new Map(
    audit.flatMap((event) => (event.kind === "claim" ? [[event.task, event.lane] as const] : [])),
  );
}
