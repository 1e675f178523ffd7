// An app on its own store, with or without a worker. All of it ends with its test.

import { expect, onTestFinished } from "vitest";
import type { StepView } from "../../../src/api/run-view.ts";
import type { App, AppDefinition, Sluice, WorkerSettings } from "../../../src/index.ts";
import { connect, defineApp } from "../../../src/index.ts";
import type { Place } from "../../e2e/support/places.ts";
import { until } from "../../e2e/support/until.ts";

export interface World {
  readonly sluice: Sluice;
  /** The URL that others connect to. A store in memory has none. */
  readonly url: string;
}

export async function worldOf(place: Place, app: App): Promise<World> {
  const store = await place.open();
  const sluice = await connect({ store, app, migrate: true });
  onTestFinished(() => sluice.close({ graceMs: 0 }));
  await sluice.deploy();
  return { sluice, url: typeof store === "string" ? store : "" };
}

/** Checks that the store has no contradictions, and that only the history of ended runs is left. */
export async function isTidy({ store, runs, limits }: Sluice): Promise<void> {
  await until(async () => {
    const open = (await runs.list()).filter(({ finishedAt }) => finishedAt === null).map(({ id }) => id);
    const gates = (await limits.list()).map(({ key }) => key).filter((key) => key.startsWith("run:"));
    return gates.every((gate) => open.some((id) => gate.startsWith(`run:${id}/`)));
  }, "the gates of ended runs are gone");
  const { broken } = await store.inspect();
  expect(Object.entries(broken).filter(([, { ids }]) => ids.length > 0)).toEqual([]);
}

/** An app whose code runs in this process. */
export async function working(
  place: Place,
  definition: AppDefinition,
  settings: WorkerSettings = {},
): Promise<Sluice> {
  const { sluice } = await worldOf(place, defineApp(definition));
  await sluice.worker(settings);
  onTestFinished(() => isTidy(sluice));
  return sluice;
}

/** The state of each step, by name. */
export async function statesOf(sluice: Sluice, run: string): Promise<Record<string, StepView["state"]>> {
  const steps = (await sluice.runs.get(run))?.steps ?? [];
  return Object.fromEntries(steps.map(({ name, state }) => [name, state]));
}
