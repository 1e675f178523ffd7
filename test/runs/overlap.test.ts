// A limit for one value beside a limit per value: both apply, so the stricter one is reached and never
// exceeded, until an operator sets the limit of that value. And apps that share a store: none of them lifts a
// limit that another declares.

import { expect, onTestFinished, test } from "vitest";
import { connect, defineApp, task, workflow } from "../../src/index.ts";
import { deferred } from "../e2e/support/deferred.ts";
import { describeOn, storeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";

/** Counts the steps inside at once, and keeps them there until they are let go. */
function room() {
  const gate = deferred();
  onTestFinished(() => gate.resolve());
  const seen = { inside: 0, peak: 0 };
  const enter = async (): Promise<void> => {
    seen.inside += 1;
    seen.peak = Math.max(seen.peak, seen.inside);
    await gate.promise;
    seen.inside -= 1;
  };
  return { seen, enter, letGo: () => gate.resolve() };
}

const POLL = { poll: "50ms", pollJitter: "0ms", slots: 20 } as const;

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("env=prod 5 beside 2 for each env lets 2 in; an operator's 4 for prod replaces both, and reset brings them back", {
    timeout: 60_000,
  }, async () => {
    const { seen, enter, letGo } = room();
    const work = task({ id: "work", run: enter });
    const job = workflow({
      id: "job",
      tags: { env: "prod" },
      steps: (s) => s.step("work", work, undefined as never),
    });
    const tags = [
      { key: "env", value: "prod", limit: 5 },
      { key: "env", perValue: true, limit: 2 },
    ];
    const app = defineApp({ name: "shop", tasks: [work], workflows: [job], runs: { max: 20, tags } });
    const sluice = await connect({ store: await storeOn(place), app });
    await sluice.worker(POLL);
    const runs: string[] = [];
    for (let n = 0; n < 8; n += 1) runs.push((await sluice.submit(job, undefined as never)).id);

    /** Waits until `many` are in and that gate alone keeps all others out. */
    const holdsAt = (many: number) =>
      until(async () => {
        const queued = await sluice.queue.list();
        const isKept = queued.every(({ reasons }) =>
          reasons.every(
            (reason) => reason.kind === "full" && reason.gate === "tag:env=prod" && reason.limit === many,
          ),
        );
        return seen.inside === many && queued.length === runs.length - many && isKept;
      }, `${many} are in`);
    await holdsAt(2);
    const { sentences } = await sluice.queue.why((await sluice.queue.list())[0]?.id ?? "");
    expect(sentences.map(({ text }) => text).join()).toMatch(
      /^tag "env=prod", by its limit per value, is full: 2 of 2 slots held/,
    );
    await sluice.limits.set("tag:env=prod", 4);
    await holdsAt(4);
    await sluice.limits.reset("tag:env=prod");
    expect((await sluice.limits.list()).find(({ key }) => key === "tag:env=prod")).toMatchObject({
      limit: 2,
      declared: 5,
      held: 4,
      draining: true,
    });
    letGo();
    for (const id of runs) await sluice.runs.ended(id);
    expect(seen.peak).toBe(4);
    await sluice.close();
  });

  test("an app that says nothing of a cap does not lift another's, whether it enqueues or works", {
    timeout: 60_000,
  }, async () => {
    const { seen, enter, letGo } = room();
    const store = await storeOn(place);
    const work = task({ id: "work", run: enter });
    const other = task({ id: "other", run: enter });
    const shop = await connect({ store, app: defineApp({ name: "shop", tasks: [work], clusterCap: 2 }) });
    const web = await connect({ store, app: defineApp({ name: "web", tasks: [other] }) });
    await shop.worker(POLL);
    await web.enqueue(other, undefined as never);
    await web.worker(POLL);
    const ids: string[] = [];
    for (let n = 0; n < 6; n += 1) {
      ids.push((await shop.enqueue(work, undefined as never)).id);
      ids.push((await web.enqueue(other, undefined as never)).id);
    }
    await until(async () => {
      const reasons = await Promise.all(ids.map(async (id) => (await shop.explain(id)).reasons));
      const kept = reasons.filter((all) =>
        all.some((each) => each.kind === "full" && each.gate === "cluster"),
      );
      return seen.inside === 2 && kept.length >= ids.length - 2;
    }, "two are in, and the others wait for the cluster cap");
    letGo();
    for (const id of ids) await shop.ended(id);
    expect(seen.peak).toBe(2);
    await Promise.all([shop.worker(POLL).then((worker) => worker.stop()), web.limits.list()]);
    expect((await store.limits(["cluster"])).get("cluster")).toBe(2);
    await shop.close();
  });
});
