// An app on a store of its own, with a worker in this process; all of it ends with its test.

import { expect, onTestFinished } from "vitest";
import type { StepView } from "../../../src/api/run-view.ts";
import type { AppDefinition, Sluice, Store, WorkerSettings } from "../../../src/index.ts";
import { connect, defineApp } from "../../../src/index.ts";
import type { Place } from "../../e2e/support/places.ts";
import { until } from "../../e2e/support/until.ts";

export interface World {
  readonly sluice: Sluice;
  /** What others connect to; a store in memory has none. */
  readonly url: string;
}

export async function worldOf(place: Place, definition: AppDefinition): Promise<World> {
  const store: string | Store = await place.open();
  const sluice = await connect({ store, app: defineApp(definition), migrate: true });
  onTestFinished(() => sluice.close({ graceMs: 0 }));
  return { sluice, url: typeof store === "string" ? store : "" };
}

/** The app's code runs here, and what it leaves behind contradicts nothing. */
export async function working(
  place: Place,
  definition: AppDefinition,
  settings: WorkerSettings = {},
): Promise<Sluice> {
  const { sluice } = await worldOf(place, definition);
  await sluice.worker(settings);
  onTestFinished(() => isTidy(sluice));
  return sluice;
}

/** Of runs that have ended nothing is left but their history, and no row contradicts another. */
export async function isTidy({ store, runs, limits }: Sluice): Promise<void> {
  await until(async () => {
    const open = (await runs.list()).filter(({ finishedAt }) => finishedAt === null).map(({ id }) => id);
    const gates = (await limits.list()).map(({ key }) => key).filter((key) => key.startsWith("run:"));
    return gates.every((gate) => open.some((id) => gate.startsWith(`run:${id}/`)));
  }, "the gates of ended runs are gone");
  const { broken } = await store.inspect();
  expect(Object.entries(broken).filter(([, { ids }]) => ids.length > 0)).toEqual([]);
}

export async function stepOf(sluice: Sluice, run: string, name: string): Promise<StepView> {
  const step = (await sluice.runs.get(run))?.steps.find((each) => each.name === name);
  if (!step) throw new Error(`run ${run} has no step ${name}`);
  return step;
}

/** How the items of a step ended, as its result says. */
export async function outcomesOf(
  sluice: Sluice,
  run: string,
  name: string,
): Promise<{ state: string; result?: unknown; error?: unknown }[]> {
  const { result } = await stepOf(sluice, run, name);
  if (!Array.isArray(result)) throw new Error(`step ${name} has no outcomes: ${JSON.stringify(result)}`);
  return result;
}
