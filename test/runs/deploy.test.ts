// An app is deployed while one of its runs is in progress. The run keeps the graph of its submission, and its
// steps run the code of the workers that are there.

import { expect, onTestFinished, test } from "vitest";
import type { App, Sluice } from "../../src/index.ts";
import { connect, defineApp, task, workflow } from "../../src/index.ts";
import type { Deferred } from "../e2e/support/deferred.ts";
import { deferred } from "../e2e/support/deferred.ts";
import { describeOn, storeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { statesOf } from "./support/world.ts";

/** The app before the deploy: two steps in a row, of which the first stays until it is let go. */
function earlier(begun: Deferred<void>, held: Deferred<void>) {
  const first = task({
    id: "first",
    run: async () => {
      begun.resolve();
      await held.promise;
    },
  });
  const second = task({ id: "second", run: async () => "earlier" });
  const job = workflow({
    id: "job",
    steps: (s) => s.step("second", second, undefined, { after: [s.step("first", first)] }),
  });
  return { job, app: defineApp({ tasks: [first, second], workflows: [job] }) };
}

/** The app after it: the workflow has one step, and its tasks are these. */
function later(...ids: readonly string[]): App {
  const tasks = ids.map((id) => task({ id, run: async () => "later" }));
  const only = task({ id: "only", run: async () => {} });
  return defineApp({
    tasks: [only, ...tasks],
    workflows: [workflow({ id: "job", steps: (s) => s.step("only", only) })],
  });
}

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  /** A run whose first step has ended with the earlier app, which is gone, and whose second has not begun. */
  async function halfway(): Promise<{ id: string; as: (app: App) => Promise<Sluice> }> {
    const store = await storeOn(place);
    const begun = deferred<void>();
    const held = deferred<void>();
    const { job, app } = earlier(begun, held);
    const as = async (one: App): Promise<Sluice> => {
      const sluice = await connect({ store, app: one });
      await sluice.deploy();
      return sluice;
    };
    const before = await as(app);
    const worker = await before.worker({ poll: "50ms", pollJitter: "0ms" });
    const { id } = await before.submit(job, undefined);
    await begun.promise;
    // A worker that stops begins nothing new.
    const stopped = worker.stop();
    held.resolve();
    await stopped;
    return { id, as };
  }

  const worksFor = async (sluice: Sluice): Promise<void> => {
    const worker = await sluice.worker({ poll: "50ms", pollJitter: "0ms" });
    onTestFinished(() => worker.stop({ graceMs: 0 }));
  };

  test("the run has the steps of its submission, and they run the new code", async () => {
    const { id, as } = await halfway();
    const after = await as(later("first", "second"));
    await worksFor(after);
    expect(await after.runs.ended(id)).toMatchObject({ state: "succeeded", result: "later" });
    expect(await statesOf(after, id)).toEqual({ first: "succeeded", second: "succeeded" });
  });

  test("a step whose task is gone waits and says so, and runs when the task is back", async () => {
    const { id, as } = await halfway();
    const without = await as(later("first"));
    await worksFor(without);
    const step = await until(async () => {
      const found = (await without.runs.get(id))?.steps.find(({ name }) => name === "second");
      return found?.unit ?? false;
    }, "the second step is in line");
    const { reasons } = await without.explain(step);
    expect(reasons).toMatchObject([{ kind: "noWorker", name: "second" }]);
    const again = await as(later("first", "second"));
    await worksFor(again);
    expect(await again.runs.ended(id)).toMatchObject({ state: "succeeded", result: "later" });
  });
});
