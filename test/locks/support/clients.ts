// Several clients of one store, as several processes would be. All of them end with their test.

import { onTestFinished } from "vitest";
import type { App, LockSettings, Sluice, Store } from "../../../src/index.ts";
import { connect } from "../../../src/index.ts";
import type { Place } from "../../e2e/support/places.ts";

interface Options {
  readonly app?: App;
  readonly locks?: LockSettings;
}

/** Opens clients of the same store, one after the other. */
export async function clientsOf(place: Place, options: Options = {}): Promise<() => Promise<Sluice>> {
  const where = await place.open();
  let isFirst = true;
  const one = async (): Promise<Sluice> => {
    const store = typeof where === "string" ? where : isFirst ? where : keptOpen(where);
    isFirst = false;
    const sluice = await connect({ ...options, store, migrate: true });
    onTestFinished(() => sluice.close({ graceMs: 0 }));
    return sluice;
  };
  return one;
}

/** The same store in memory for a second client: its end must not close the store for the others. */
const keptOpen = (store: Store): Store =>
  new Proxy(store, {
    get: (target, name) => (name === "close" ? async () => {} : Reflect.get(target, name, target)),
  });

/** The tables that hold units, by name, with the number of their rows that belong to locks. */
export async function leftBehind({ store }: Sluice): Promise<Record<string, number>> {
  const [waiting, gates, queues] = await Promise.all([store.waiting(), store.gates(), store.queues()]);
  const ours = gates.filter(({ key }) => key.startsWith("mutex:"));
  return {
    waiting: waiting.filter(({ queue }) => queue === "@locks").length,
    gates: ours.length,
    queues: queues.filter(({ name }) => name === "@locks").length,
  };
}

/** Brings the schema of a new store up to date. */
export async function migrated(url: string): Promise<void> {
  await (await connect({ store: url, migrate: true })).close();
}
