// Five items, three at once: which have started, which are in flight and how many remain, after every
// completion.

import { expect, test } from "vitest";
import { task, workflow } from "../../src/index.ts";
import { describeOn, storeOn } from "../e2e/support/places.ts";
import { begun, countsOf, Hands, settled, stepRow } from "./support/bench.ts";

const work = task({ id: "work", run: async (item: number) => item });
const after = task({ id: "after", run: async (all: number[]) => all.length });
const five = workflow({
  id: "five",
  steps: (s) => {
    const items = s.each("items", [0, 1, 2, 3, 4], work, { concurrency: 3 });
    return s.step("after", after, items.output);
  },
});

/**
 * Must hold once the first `done` items have ended. `remaining` counts items without an outcome, started or
 * not.
 */
const TRACE = [
  { done: 0, inFlight: [0, 1, 2], waiting: [3, 4], remaining: 5 },
  { done: 1, inFlight: [1, 2, 3], waiting: [4], remaining: 4 },
  { done: 2, inFlight: [2, 3, 4], waiting: [], remaining: 3 },
  { done: 3, inFlight: [3, 4], waiting: [], remaining: 2 },
  { done: 4, inFlight: [4], waiting: [], remaining: 1 },
  { done: 5, inFlight: [], waiting: [], remaining: 0 },
];

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("of five items three are in flight, each completion starts the next one, and the last starts what follows once", async () => {
    const store = await storeOn(place);
    const run = await begun(store, { tasks: [work, after], workflows: [five] });
    await settled(store);
    const worker = await Hands.open(store);
    const followers = await Hands.open(store, { tasks: ["after"] });
    expect(await countsOf(store, run, "items")).toMatchObject({
      total: 5,
      created: 5,
      waiting: 5,
      running: 0,
    });
    expect(await worker.take()).toEqual([0, 1, 2]);

    for (const { done, inFlight, waiting, remaining } of TRACE) {
      if (done > 0) {
        await worker.swap([worker.claimOf(done - 1)], { appetite: 1_000 });
        // More looks, by anyone, change nothing else.
        await settled(store);
        await worker.take();
      }
      const rows = await store.items(run, "items", { after: -1, limit: 10 });
      const at = (place: string): number[] =>
        rows.filter((row) => row.place === place).map(({ item }) => item);
      const tell = `after ${done} completions`;
      expect(at("claimed"), tell).toEqual(inFlight);
      expect(at("waiting"), tell).toEqual(waiting);
      expect(at("succeeded"), tell).toEqual(Array.from({ length: done }, (_, index) => index));
      const counts = await countsOf(store, run, "items");
      expect(counts.waiting + counts.running, tell).toBe(remaining);
      expect(counts, tell).toMatchObject({
        succeeded: done,
        running: inFlight.length,
        waiting: waiting.length,
      });
      expect((await stepRow(store, run, "items")).state, tell).toBe(remaining === 0 ? "succeeded" : "open");
      expect(await followers.take(), tell).toEqual(remaining === 0 ? [[0, 1, 2, 3, 4]] : []);
    }
    await followers.swap(followers.held);
    await settled(store);
    expect((await store.run(run))?.run).toMatchObject({ state: "succeeded", body: "[0,1,2,3,4]" });
  });
});
