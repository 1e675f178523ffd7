// A run that was let in but never started, because its coordinator is gone. It goes back in line or fails, as
// its app says, and is never lost.

import { expect, onTestFinished, test } from "vitest";
import { connect, defineApp, task, workflow } from "../../src/index.ts";
import type { Place } from "../e2e/support/places.ts";
import { describeOn, storeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { claimsOfRuns, letIn } from "./support/coordinating.ts";

const TIMEOUT_MS = 400;

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("a run that nobody starts goes back to its place in line, and is run when its turn comes", async () => {
    const { sluice, job } = await open(place, "requeue");
    const { id } = await sluice.submit(job, undefined);
    const other = await sluice.submit(job, undefined);
    const gone = claimsOfRuns(sluice.store, TIMEOUT_MS);
    expect(await letIn(gone)).toEqual([id]);
    const since = performance.now();
    const next = claimsOfRuns(sluice.store, 60_000);
    const again = await until(async () => {
      const entered = await letIn(next);
      return entered.length > 0 && entered;
    }, "somebody was let in again");
    // At the timeout, and not before, its slot is free for the next run, and it is first in line again.
    expect(again).toEqual([other.id]);
    expect(performance.now() - since).toBeGreaterThanOrEqual(TIMEOUT_MS - 50);
    const reasons = [{ kind: "full", gate: "runs" }, { kind: "noWorker" }];
    expect(await sluice.queue.list()).toMatchObject([{ id, position: 1, reasons }]);
    await sluice.worker({ poll: "50ms", pollJitter: "0ms" });
    for (const run of [id, other.id]) expect((await sluice.runs.ended(run)).state).toBe("succeeded");
    expect((await sluice.runs.events(id)).map(({ kind }) => kind).slice(0, 5)).toEqual([
      "RunQueued",
      "RunDequeued",
      "RunRequeued",
      "RunDequeued",
      "RunStarted",
    ]);
    expect((await sluice.limits.list()).filter(({ held }) => held !== 0)).toEqual([]);
  });

  test("a run that nobody starts has failed where the app says so, and its slot is free", async () => {
    const { sluice, job } = await open(place, "fail");
    const { id } = await sluice.submit(job, undefined);
    const other = await sluice.submit(job, undefined);
    expect(await letIn(claimsOfRuns(sluice.store, TIMEOUT_MS))).toEqual([id]);
    const next = claimsOfRuns(sluice.store, 60_000);
    const again = await until(async () => {
      const entered = await letIn(next);
      return entered.length > 0 && entered;
    }, "the next one was let in");
    expect(again).toEqual([other.id]);
    expect(await sluice.runs.ended(id)).toMatchObject({ state: "failed", error: { code: "START_TIMEOUT" } });
  });
});

async function open(place: Place, onStartTimeout: "requeue" | "fail") {
  const work = task({ id: "work", run: async () => {} });
  const job = workflow({ id: "job", steps: (s) => s.step("work", work) });
  const app = defineApp({
    tasks: [work],
    workflows: [job],
    runs: { max: 1, startTimeout: `${TIMEOUT_MS}ms`, onStartTimeout },
  });
  const sluice = await connect({ store: await storeOn(place), app });
  onTestFinished(() => sluice.close({ graceMs: 1_000 }));
  await sluice.deploy();
  return { sluice, job };
}
