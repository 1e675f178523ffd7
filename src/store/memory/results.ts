/** Reads what a decision about runs asked for, or only measures it. */
import type { ItemSeen, Reading } from "../runs.ts";
import { AROUND_ITEM, bodySize, itemsSize, keyOfStep, SHORT } from "../runs.ts";
import { itemsSeen } from "./item.ts";
import type { Tables } from "./tables.ts";
import { pairKey } from "./tables.ts";

interface Gathered {
  readonly units: Map<string, string | null>;
  readonly bodies: Map<string, string | null>;
  readonly items: Map<string, readonly ItemSeen[]>;
  readonly sizes: Map<string, number>;
}

export const gathered = (): Gathered => ({
  units: new Map(),
  bodies: new Map(),
  items: new Map(),
  sizes: new Map(),
});

export const bytes = (text: string): number => Buffer.byteLength(text);

export function gather(
  tables: Tables,
  { units, bodies, items, measure = false }: Reading,
  into: Gathered,
): void {
  const put = (to: Map<string, string | null>, key: string, size: string, body: string | null): void => {
    const length = bytes(body ?? "");
    if (measure) into.sizes.set(size, length);
    if (!measure || length <= SHORT) to.set(key, body);
  };
  for (const unit of units) {
    const outcome = tables.outcome.get(unit);
    put(into.units, unit, unit, outcome?.state === "succeeded" ? outcome.body : null);
  }
  for (const key of bodies) {
    const body = tables.step.get(pairKey(key.run, key.step))?.body ?? null;
    put(into.bodies, keyOfStep(key), bodySize(keyOfStep(key)), body);
  }
  for (const key of items) {
    const seen = itemsSeen(tables, key.run, key.step);
    const size = seen.reduce((sum, { body }) => sum + bytes(body ?? "") + AROUND_ITEM, 0);
    if (measure) into.sizes.set(itemsSize(keyOfStep(key)), size);
    else into.items.set(keyOfStep(key), seen);
  }
}
