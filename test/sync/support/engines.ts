// Engines in this process: each has a store of its own, and they share locks through one sync database.

import { onTestFinished } from "vitest";
import type { App, AppDefinition, Sluice } from "../../../src/index.ts";
import { connect, defineApp } from "../../../src/index.ts";
import { openMemory } from "../../../src/store/memory/index.ts";
import type { Store } from "../../../src/store/store.ts";

const QUICK = { poll: "50ms", pollJitter: "0ms", slots: 8 } as const;

export interface Engine {
  readonly name: string;
  readonly sluice: Sluice;
  readonly store: Store;
  readonly errors: unknown[];
  stop(): Promise<void>;
}

interface EngineOptions extends Partial<AppDefinition> {
  readonly store?: Store;
  readonly works?: boolean;
}

export async function engine(
  name: string,
  url: string,
  definition: Pick<AppDefinition, "tasks" | "workflows">,
  { store = openMemory(), works = true, ...more }: EngineOptions = {},
): Promise<Engine> {
  const app: App = defineApp({
    ...definition,
    runs: { max: 100 },
    ...more,
    sync: {
      url,
      controllerName: name,
      pollSeconds: 0.05,
      heartbeatSeconds: 1,
      inactiveControllerSeconds: 3,
      ...more.sync,
    },
  });
  const errors: unknown[] = [];
  const sluice = await connect({ store, app });
  const stop = (): Promise<void> => sluice.close();
  onTestFinished(stop);
  if (works)
    await sluice.worker({
      name,
      ...QUICK,
      watch: (event) => void (event.kind === "error" && errors.push(event.error)),
    });
  return { name, sluice, store, errors, stop };
}
