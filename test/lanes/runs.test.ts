// Runs that share only one full gate: each is its own lane, and all but two of them wait.

import { expect, test } from "vitest";
import { task, workflow } from "../../src/index.ts";
import { deferred } from "../e2e/support/deferred.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { working } from "../runs/support/world.ts";

const TENANTS = 100;

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test(`${TENANTS} runs of as many tenants beside a gate for two: timers fire while they wait, and all of them finish`, {
    timeout: 120_000,
  }, async () => {
    const opened = deferred<void>();
    const work = task({ id: "work", run: () => opened.promise });
    const flow = workflow({
      id: "flow",
      tags: { env: "prod" },
      steps: (s) => {
        s.step("only", work, undefined);
      },
    });
    const sluice = await working(place, {
      tasks: [work],
      workflows: [flow],
      runs: { max: 1_000, tags: [{ key: "env", value: "prod", limit: 2 }] },
    });
    for (let tenant = 0; tenant < TENANTS; tenant += 1)
      await sluice.submit(flow, undefined, { tags: { tenant: `t${tenant}` } });
    await until(
      async () => (await sluice.runs.list({ state: "started", limit: 1_000 })).length === 2,
      "two run",
    );
    // With a store that answers at once, a spinning loop would keep timers from firing.
    await new Promise((resolve) => setTimeout(resolve, 1));
    opened.resolve();
    await until(
      async () => (await sluice.runs.list({ state: "succeeded", limit: 1_000 })).length === TENANTS,
      "all of them have finished",
    );
    expect(await sluice.runs.list({ state: "queued", limit: 1_000 })).toEqual([]);
  });
});
