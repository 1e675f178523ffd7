// Children of runs in progress are never hidden by runs that wait in the line.

import { expect, test } from "vitest";
import { task, workflow } from "../../src/index.ts";
import { deferred } from "../e2e/support/deferred.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { working } from "../runs/support/world.ts";

const QUEUED = 1_000;

describeOn(["memory", "sqlite", "postgres"], (place) => {
  test("runs in progress get their children although a thousand runs wait for the run cap", {
    timeout: 300_000,
  }, async () => {
    const go = deferred<void>();
    let begun = 0;
    const first = task({
      id: "first",
      run: async () => {
        begun += 1;
        await go.promise;
      },
    });
    const tick = task({ id: "tick", run: async () => 1 });
    const low = workflow({ id: "low", steps: (s) => s.step("tick", tick) });
    const parent = workflow({
      id: "parent",
      steps: (s) => {
        const start = s.step("first", first);
        return s.each("each", [1, 2, 3], low, { input: () => undefined, concurrency: 1, after: [start] })
          .output;
      },
    });
    const sluice = await working(
      place,
      { tasks: [first, tick], workflows: [parent, low], runs: { max: 2 } },
      { slots: 4 },
    );
    const parents = await Promise.all([sluice.submit(parent, undefined), sluice.submit(parent, undefined)]);
    await until(() => begun === 2, "both runs are in progress");
    // Each has a lane of its own, and all of them wait for the same gate.
    const others: string[] = [];
    for (let index = 0; index < QUEUED; index += 1) {
      const { id } = await sluice.submit(low, undefined, { priority: 9, tags: { tenant: `t${index}` } });
      others.push(id);
    }
    go.resolve();
    const results = await Promise.all(parents.map(({ id }) => sluice.runs.ended(id)));
    expect(results.map(({ result }) => result)).toEqual([
      [1, 1, 1],
      [1, 1, 1],
    ]);
    // They waited the whole time.
    const started = await sluice.runs.list({ ids: others, limit: QUEUED });
    const before = started.filter(
      ({ dequeuedAt }) =>
        dequeuedAt !== null && dequeuedAt < Math.min(...results.map((each) => each.finishedAt ?? 0)),
    );
    expect(before).toEqual([]);
    await Promise.all(others.map((id) => sluice.runs.cancel(id)));
  });
});
