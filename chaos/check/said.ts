/**
 * Adds what the app declares to what the product has recorded: windows of lists and mutexes become gates of
 * our own. The same sweep then finds a unit that forgot to ask for one.
 */
import { WINDOW } from "../app/limits.ts";
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
  const add = (unit: string, gate: string, limit: number): void => {
    const lane = laneOf.get(unit);
    if (lane === undefined) return;
    limits.set(gate, limit);
    lanes.set(lane, { ...lanes.get(lane), [gate]: 1 });
  };
  for (const { id, run, step, item } of tables.tasks) {
    if (item !== null) add(id, `said window of ${run} ${step}`, WINDOW);
    if (step === "last") add(id, "said mutex stamp", 1);
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
