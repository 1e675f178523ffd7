// Lists under real workers: timeouts, and running a list again.

import { expect, test } from "vitest";
import { task, workflow } from "../../src/index.ts";
import { deferred } from "../e2e/support/deferred.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { working } from "../runs/support/world.ts";
import { outcomesOf, stepOf } from "./support/run-view.ts";

const ITEMS = [0, 1, 2, 3, 4, 5];

/** A list that records what it ran. Items in `fails` fail until they are removed from it. */
function noted(onFailure: "run-all" | "stop", concurrency: number) {
  const ran: number[] = [];
  const fails = new Set<number>();
  const holds = new Set<number>();
  const hold = deferred();
  const work = task({
    id: "work",
    run: async (item: number) => {
      ran.push(item);
      if (holds.has(item)) await hold.promise;
      if (fails.has(item)) throw new Error(`no luck with ${item}`);
      return item * 10;
    },
  });
  const sum = task({ id: "sum", run: async (all: number[]) => all.reduce((a, b) => a + b, 0) });
  const listed = workflow({
    id: "listed",
    steps: (s) => {
      const before = s.each("before", [7, 8], work);
      const items = s.each("items", ITEMS, work, { concurrency, onFailure, after: [before] });
      return { total: s.step("sum", sum, items.output).output, before: before.output };
    },
  });
  return { ran, fails, holds, hold, listed, definition: { tasks: [work, sum], workflows: [listed] } };
}

const BEFORE = [7, 8];
const RESULT = { total: 150, before: [70, 80] };
const ALL = ITEMS.map((item) => ({ state: "succeeded", result: item * 10 }));

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("an item that takes longer than its timeout has failed, and the others are not touched", async () => {
    const aborted: number[] = [];
    const slow = task({
      id: "slow",
      run: async (item: number, { signal }) => {
        if (item !== 1) return item;
        await new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve());
        });
        aborted.push(item);
        throw signal.reason;
      },
    });
    const timed = workflow({
      id: "timed",
      steps: (s) => s.each("items", [0, 1, 2], slow, { timeout: "50ms" }),
    });
    const sluice = await working(place, { tasks: [slow], workflows: [timed] });
    const { id } = await sluice.submit(timed, undefined);
    expect(await sluice.runs.ended(id)).toMatchObject({ state: "failed" });
    expect(await outcomesOf(sluice, id, "items")).toMatchObject([
      { state: "succeeded", result: 0 },
      { state: "failed", error: { code: "TIMEOUT" } },
      { state: "succeeded", result: 2 },
    ]);
    expect(aborted).toEqual([1]);
  });

  test("run again, only items that failed run, then nothing does; from nothing, all of them do", async () => {
    const { ran, fails, listed, definition } = noted("run-all", 3);
    fails.add(2).add(4);
    const sluice = await working(place, definition);
    const { id } = await sluice.submit(listed, undefined);
    expect(await sluice.runs.ended(id)).toMatchObject({ state: "failed" });
    expect(ran.splice(0).sort()).toEqual([...ITEMS, ...BEFORE]);

    fails.delete(2);
    const second = await sluice.runs.rerun(id);
    expect(await sluice.runs.ended(second.id)).toMatchObject({ state: "failed" });
    expect(ran.splice(0).sort()).toEqual([2, 4]);
    expect((await outcomesOf(sluice, second.id, "items")).map(({ state }) => state)).toEqual(
      ITEMS.map((item) => (item === 4 ? "failed" : "succeeded")),
    );

    fails.clear();
    const third = await sluice.runs.rerun(second.id);
    expect(await sluice.runs.ended(third.id)).toMatchObject({ state: "succeeded", result: RESULT });
    expect(ran.splice(0)).toEqual([4]);
    expect(await outcomesOf(sluice, third.id, "items")).toEqual(ALL);
    // A step that was taken over whole is shown as if it had run here.
    expect(await stepOf(sluice, third.id, "before")).toMatchObject({
      state: "succeeded",
      result: [
        { state: "succeeded", result: 70 },
        { state: "succeeded", result: 80 },
      ],
    });

    const fourth = await sluice.runs.rerun(third.id);
    expect(await sluice.runs.ended(fourth.id)).toMatchObject({ state: "succeeded", result: RESULT });
    expect(ran).toEqual([]);
    const fifth = await sluice.runs.rerun(id, { all: true });
    expect(await sluice.runs.ended(fifth.id)).toMatchObject({ state: "succeeded", result: RESULT });
    expect(ran.splice(0).sort()).toEqual([...ITEMS, ...BEFORE]);
  });

  test("run again, a list that was stopped goes on with what failed and what never started", async () => {
    const { ran, fails, listed, definition } = noted("stop", 1);
    fails.add(2);
    const sluice = await working(place, definition);
    const { id } = await sluice.submit(listed, undefined);
    expect(await sluice.runs.ended(id)).toMatchObject({ state: "failed" });
    const done = (await outcomesOf(sluice, id, "items")).flatMap(({ state }, item) =>
      state === "succeeded" ? [item] : [],
    );
    ran.splice(0);
    fails.clear();
    const again = await sluice.runs.rerun(id);
    expect(await sluice.runs.ended(again.id)).toMatchObject({ state: "succeeded", result: RESULT });
    expect(done.slice(0, 2)).toEqual([0, 1]);
    expect(ran).toEqual(ITEMS.filter((item) => !done.includes(item)));
    expect(await outcomesOf(sluice, again.id, "items")).toEqual(ALL);
  });

  test("run again, a run that was cancelled in the middle of its list goes on behind what had succeeded", async () => {
    const { ran, holds, hold, listed, definition } = noted("run-all", 1);
    holds.add(3);
    const sluice = await working(place, definition);
    const { id } = await sluice.submit(listed, undefined);
    await until(() => ran.includes(3), "the fourth item begins");
    await sluice.runs.cancel(id);
    ran.splice(0);
    holds.clear();
    hold.resolve();
    const again = await sluice.runs.rerun(id);
    expect(await sluice.runs.ended(again.id)).toMatchObject({ state: "succeeded", result: RESULT });
    expect(ran).toEqual([3, 4, 5]);
    expect(await outcomesOf(sluice, again.id, "items")).toEqual(ALL);
  });
});
