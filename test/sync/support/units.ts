// Units in shared lines, as tests write them.

import { decideShared, sharedId } from "../../../src/core/shared/line.ts";
import type {
  DecideTake,
  SharedEntry,
  Speaker,
  SyncDatabase,
  TakeAnswer,
} from "../../../src/store/sync/port.ts";

export const speaker = (controller: string, instance = `${controller}-1`): Speaker => ({
  controller,
  instance,
});

export const joinAs = (sync: SyncDatabase, controller: string, instance = `${controller}-1`) =>
  sync.join({ controller, instance, engine: `engine of ${controller}` });

export const entry = (
  key: string,
  locks: readonly string[],
  more: Partial<SharedEntry> = {},
): SharedEntry => ({
  key,
  priority: 0,
  at: 1_000_000,
  locks: locks.map((name) => ({ name, slots: 1 })),
  ...more,
});

/** What every engine decides. */
export const byTheRule: DecideTake = (view) => new Set(decideShared(view).admitted.map(({ id }) => id));

let intents = 0;

/** Tries to take the locks of these units. Returns the keys of those that got them. */
export async function takeAs(
  sync: SyncDatabase,
  controller: string,
  units: readonly SharedEntry[],
  decide: DecideTake = byTheRule,
): Promise<readonly string[]> {
  const taken = await tryAs(sync, controller, units, decide);
  if (taken.kind !== "taken") throw new Error(`${controller} was refused: ${taken.kind}`);
  return taken.keys;
}

export function tryAs(
  sync: SyncDatabase,
  controller: string,
  units: readonly SharedEntry[],
  decide: DecideTake = byTheRule,
): Promise<TakeAnswer> {
  const wanted = units.map(({ key, locks }) => {
    intents += 1;
    return { key, intent: intents, locks: locks.map(({ name }) => name) };
  });
  return sync.take(speaker(controller), wanted, decide);
}

export const idIn = (controller: string, key: string): string => sharedId({ key, controller });

/** Enters and tries at once. */
export async function wantAs(
  sync: SyncDatabase,
  controller: string,
  ...units: readonly SharedEntry[]
): Promise<readonly string[]> {
  await sync.enter(speaker(controller), units);
  return takeAs(sync, controller, units);
}
