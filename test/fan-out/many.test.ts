// Very long lists: they are put in line in batches, counted instead of listed, and can be given up before all
// items exist.

import { expect, test } from "vitest";
import type { ItemOutcome } from "../../src/core/run/fan-out.ts";
import { A_BATCH } from "../../src/engine/runs/fan-out.ts";
import type { Reference } from "../../src/index.ts";
import { task, workflow } from "../../src/index.ts";
import { describeOn, storeOn } from "../e2e/support/places.ts";
import { begun, countsOf, Hands, look, settled, stepRow } from "./support/bench.ts";

const double = task({ id: "double", run: async (value: number) => value * 2 });

describeOn(["sqlite"], (place) => {
  test("100,000 items are put in line batch by batch, counted without being listed, and listed by pages", async () => {
    const store = await storeOn(place);
    const total = 100_000;
    const huge = workflow({
      id: "huge",
      steps: (s, input: Reference<number[]>) => s.each("items", input, double, { concurrency: 10 }),
    });
    const list = Array.from({ length: total }, (_, index) => index);
    const run = await begun(store, { tasks: [double], workflows: [huge] }, list);
    for (let created = 0; created < total; created += A_BATCH) {
      await look(store);
      if (created % 20_000 === 0)
        expect(await countsOf(store, run, "items")).toMatchObject({ total, created: created + A_BATCH });
    }
    expect(await countsOf(store, run, "items")).toMatchObject({ created: total, waiting: total });

    const worker = await Hands.open(store, { tasks: ["double"] });
    expect(await worker.take()).toEqual(list.slice(0, 10));
    await worker.swap([...worker.held], { appetite: 10 });
    const pages = [
      [-1, 0],
      [9, 10],
      [49_999, 50_000],
      [99_989, 99_990],
    ] as const;
    for (const [after, first] of pages) {
      const page = await store.items(run, "items", { after, limit: 10 });
      expect(page.map(({ item }) => item)).toEqual(list.slice(first, first + 10));
      expect(page.map(({ place: state }) => state)).toEqual(
        Array(10).fill(first === 0 ? "succeeded" : first === 10 ? "claimed" : "waiting"),
      );
    }
    expect(await store.items(run, "items", { after: total - 1, limit: 10 })).toEqual([]);
    await store.cancelRun(run, "test");
    await settled(store);
    expect(await countsOf(store, run, "items")).toMatchObject({ waiting: 0, running: 0, succeeded: 10 });
  });
});

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("when an item fails before all are in line, the others are never created, and the step tells of all of them", async () => {
    const store = await storeOn(place);
    const total = A_BATCH + 5;
    const early = workflow({
      id: "early",
      steps: (s, input: Reference<number[]>) =>
        s.each("items", input, double, { concurrency: 2, onFailure: "stop" }),
    });
    const list = Array.from({ length: total }, (_, index) => index);
    const run = await begun(store, { tasks: [double], workflows: [early] }, list);
    await look(store);
    expect(await countsOf(store, run, "items")).toMatchObject({ total, created: A_BATCH });
    const worker = await Hands.open(store, { tasks: ["double"] });
    expect(await worker.take()).toEqual([0, 1]);
    await worker.swap([worker.claimOf(0)], { to: "failed" });
    await settled(store);
    expect(await worker.take()).toEqual([]);
    await worker.swap([worker.claimOf(1)]);
    await settled(store);
    expect(await store.items(run, "items", { after: A_BATCH - 1, limit: 10 })).toEqual([]);
    const step = await stepRow(store, run, "items");
    const outcomes = JSON.parse(step.body as string) as ItemOutcome[];
    expect(step.state).toBe("failed");
    expect(outcomes.slice(0, 2).map(({ state }) => state)).toEqual(["failed", "succeeded"]);
    expect(outcomes.slice(2)).toEqual(
      Array(total - 2).fill({
        state: "cancelled",
        error: {
          name: "Error",
          code: "CANCELLED",
          message: "It was cancelled because another item failed.",
          by: "onFailure",
        },
      }),
    );
  });
});
