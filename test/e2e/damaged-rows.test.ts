// A damaged row affects only its own task.

import { expect, test } from "vitest";
import { connect, defineApp, task } from "../../src/index.ts";
import { describeOn } from "./support/places.ts";
import { until } from "./support/until.ts";

describeOn(["sqlite", "postgres", "mariadb"], (place) => {
  test("a lane whose asks cannot be read waits alone, says so, and goes on once it is mended", async () => {
    const store = (await place.open()) as string;
    const broken = task({ id: "broken", queue: "one", pools: { gpu: 1 }, run: () => "broken" });
    const whole = task({ id: "whole", queue: "one", pools: { gpu: 1 }, run: () => "whole" });
    const app = defineApp({
      tasks: [broken, whole],
      queues: { one: { maxConcurrency: 1 } },
      pools: { gpu: { limit: 1 } },
    });
    await using sluice = await connect({ store, app, migrate: true });
    await sluice.deploy();
    // The damaged one is first in line.
    await sluice.queues.pause("one", "test");
    const { id } = await sluice.enqueue(broken, undefined, { priority: 9 });
    await sluice.worker({ slots: 4, poll: "50ms", pollJitter: "0ms" });
    const aside = await place.beside(store);
    const [lane] = await until(async () => {
      const rows = await aside.query("SELECT id, asks FROM sluice_lane WHERE task = 'broken'");
      return rows.length > 0 && rows;
    }, "its lane is there");
    await aside.query("UPDATE sluice_lane SET asks = '[[' WHERE task = 'broken'");
    await aside.query("UPDATE sluice_task SET asks = '[[' WHERE name = 'broken'");
    await sluice.queues.resume("one", "test");
    const others = await sluice.enqueueMany(
      Array.from({ length: 5 }, () => ({ task: whole as never, input: undefined as never })),
    );
    for (const other of others)
      await until(async () => (await sluice.get(other.id))?.state === "succeeded", "the others run");
    const why = await until(async () => {
      const told = await sluice.explain(id);
      return told.reasons[0]?.kind === "aside" && told;
    }, "it is set aside");
    expect(why.state).toBe("waiting");
    expect(why.sentences[0]).toMatchObject({
      text: expect.stringContaining("its asks cannot be read"),
      remedies: [{ action: "restoreLane" }],
    });

    await aside.query(`UPDATE sluice_lane SET asks = '${lane?.asks}' WHERE task = 'broken'`);
    await aside.query(`UPDATE sluice_task SET asks = '${lane?.asks}' WHERE name = 'broken'`);
    await aside.close();
    expect(await sluice.restore(id, "test")).toMatchObject({ task: "broken", units: 1 });
    await until(async () => (await sluice.get(id))?.state === "succeeded", "it runs once it is put back");
  });

  test("an input that cannot be read fails its own task, and a line that is not known is strict", async () => {
    const store = (await place.open()) as string;
    const one = task({ id: "one", queue: "one", run: () => "done" });
    const app = defineApp({ tasks: [one], queues: { one: { maxConcurrency: 2 } } });
    await using sluice = await connect({ store, app, migrate: true });
    await sluice.deploy();
    // A starting worker repairs the line of a gate that its app declares, so the row is damaged while the
    // worker runs.
    await sluice.queues.pause("one", "test");
    await sluice.worker({ slots: 4, poll: "50ms", pollJitter: "0ms" });
    const [bad, good] = await sluice.enqueueMany([
      { task: one as never, input: undefined as never },
      { task: one as never, input: undefined as never },
    ]);
    const aside = await place.beside(store);
    await aside.query(`UPDATE sluice_task SET input = '{"', options = 'none' WHERE id = '${bad?.id}'`);
    await aside.query("UPDATE sluice_gate SET line = 'zigzag' WHERE name = 'queue:one'");
    await aside.close();
    await sluice.queues.resume("one", "test");
    await until(async () => (await sluice.get(good?.id as string))?.state === "succeeded", "the other runs");
    await until(async () => (await sluice.get(bad?.id as string))?.state === "failed", "it fails");
    expect((await sluice.limits.list()).find(({ key }) => key === "queue:one")?.line).toBe("strict");
  });
});
