/** What one round knows of the units of this engine that need shared locks. */
import type { SharedRow } from "../../core/shared/line.ts";
import type { SharedLock } from "../../core/shared/lock.ts";
import { storedOptions } from "../../core/unit-options.ts";
import type { Intent, SharingUnit } from "../../store/store.ts";

export interface Sharer extends SharingUnit {
  readonly locks: readonly SharedLock[];
  /** It holds each of its locks, for its intent. */
  readonly holds: boolean;
}

/** The units of the store, with their rows of the sync database. */
export function sharersOf(units: readonly SharingUnit[], rows: readonly SharedRow[]): Sharer[] {
  const byUnit = new Map<string, SharedRow[]>();
  for (const row of rows) byUnit.set(row.key, [...(byUnit.get(row.key) ?? []), row]);
  return units.map((unit): Sharer => {
    const locks = (storedOptions(unit.options).shared ?? []).map(([name, slots]) => ({ name, slots }));
    const own = byUnit.get(unit.unit) ?? [];
    const held = new Set(own.flatMap((row) => (row.held && row.intent === unit.intent ? [row.name] : [])));
    return {
      ...unit,
      locks,
      holds: unit.intent !== null && locks.every(({ name }) => held.has(name)),
    };
  });
}

/** The intents of these units. */
export const intentsOf = (units: readonly SharingUnit[]): Intent[] =>
  units.flatMap(({ unit, intent }) => (intent === null ? [] : [{ unit, n: intent }]));

export const idsOf = (units: readonly Pick<SharingUnit, "unit">[]): string[] => units.map(({ unit }) => unit);
