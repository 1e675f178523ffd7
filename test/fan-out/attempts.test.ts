// Items that are retried, lost or given up, and runs that are paused or cancelled in the middle of a list.

import { expect, test } from "vitest";
import type { ItemOutcome } from "../../src/core/run/fan-out.ts";
import type { EachOptions } from "../../src/index.ts";
import { task, workflow } from "../../src/index.ts";
import type { Store } from "../../src/store/store.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { begun, countsOf, Hands, settled, sharedOn, stepRow } from "./support/bench.ts";

const work = task({ id: "work", run: async (item: number) => item });
const ITEMS = [0, 1, 2, 3, 4, 5];
const TRIES = { attempts: 5, delay: "1h" } as const;

async function listOn(store: Store, options: EachOptions<number, number>): Promise<string> {
  const listed = workflow({ id: "listed", steps: (s) => s.each("items", ITEMS, work, options) });
  const run = await begun(store, { tasks: [work], workflows: [listed] });
  await settled(store);
  return run;
}

/** Takes and finishes items one by one until none is left, and returns the order in which they started. */
async function drained(store: Store, worker: Hands): Promise<unknown[]> {
  const order: unknown[] = [];
  for (;;) {
    order.push(...(await worker.take()));
    const [next] = worker.held;
    if (!next) return order;
    await worker.swap([next]);
    await settled(store);
  }
}

async function outcomesOf(store: Store, run: string): Promise<ItemOutcome[]> {
  return JSON.parse((await stepRow(store, run, "items")).body as string) as ItemOutcome[];
}

const statesOf = (outcomes: readonly ItemOutcome[]): string[] => outcomes.map(({ state }) => state);

/** Waits until a delayed item is put in line. */
const comeDue = (store: Store): Promise<unknown> =>
  until(async () => (await store.tend()).promoted > 0, "a delayed item comes due");

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  const shared = sharedOn(place);

  test("an item that is tried again uses no window meanwhile, and then has its place before the unstarted ones", async () => {
    const store = await shared();
    const run = await listOn(store, { concurrency: 2, retry: TRIES });
    const worker = await Hands.open(store);
    expect(await worker.take()).toEqual([0, 1]);
    await worker.retry(worker.claimOf(0), 1);
    // Two are in flight although the first one is not done.
    expect(await worker.take()).toEqual([2]);
    expect(await countsOf(store, run, "items")).toMatchObject({ running: 2, waiting: 4 });
    await comeDue(store);
    expect(await worker.take()).toEqual([]);
    await worker.swap([worker.claimOf(1)]);
    expect(await worker.take()).toEqual([0]);
    expect(worker.claimOf(0).attempt).toBe(2);
    // The same without a delay.
    await worker.retry(worker.claimOf(0), 0);
    expect(await worker.take()).toEqual([0]);
    expect(await drained(store, worker)).toEqual([3, 4, 5]);
    const rows = await store.items(run, "items", { after: -1, limit: 10 });
    expect(rows.map(({ item, attempt, input }) => [item, attempt, Number(input)])).toEqual(
      ITEMS.map((item) => [item, item === 0 ? 3 : 1, item]),
    );
    expect(await outcomesOf(store, run)).toEqual(ITEMS.map((result) => ({ state: "succeeded", result })));
  });

  test("items whose worker is lost run again before the unstarted ones, and its late reports change nothing", async () => {
    const store = await shared();
    const run = await listOn(store, { concurrency: 2, retry: TRIES, onFailure: "cancel" });
    const lost = await Hands.open(store);
    expect(await lost.take()).toEqual([0, 1]);
    await lost.die(store);
    const worker = await Hands.open(store);
    const order = await worker.take();
    expect(order.length).toBe(2);
    await expect(lost.swap([lost.claimOf(0)], { to: "failed" })).rejects.toThrow("refused");
    // The late failure does not count: items in flight are not aborted, and all others run.
    await settled(store);
    expect(await worker.dropStale()).toEqual([]);
    order.push(...(await drained(store, worker)));
    expect([...order].sort()).toEqual(ITEMS);
    // The pass that found them lost could also take the next two. Then it is their turn.
    const places = [0, 1].map((item) => order.indexOf(item));
    expect(Math.max(...places)).toBeLessThan(4);
    expect(order.indexOf(0)).toBeLessThan(order.indexOf(1));
    expect(statesOf(await outcomesOf(store, run))).toEqual(ITEMS.map(() => "succeeded"));
  });

  test("a process that dies under an item which has attempts left is no failure of the item", async () => {
    const store = await shared();
    const run = await listOn(store, { concurrency: 2, retry: TRIES, onFailure: "cancel" });
    const worker = await Hands.open(store);
    await worker.take();
    await worker.crashed(worker.claimOf(0));
    await settled(store);
    expect(await worker.dropStale()).toEqual([]);
    await drained(store, worker);
    expect(statesOf(await outcomesOf(store, run))).toEqual(ITEMS.map(() => "succeeded"));
  });

  test("a lost item without attempts has failed, one lost three times is put away, and the step comes to its end", async () => {
    const store = await shared();
    const once = await listOn(store, { concurrency: 1 });
    const lost = await Hands.open(store);
    await lost.take();
    await lost.die(store);
    await drained(store, await Hands.open(store));
    await settled(store);
    expect((await outcomesOf(store, once))[0]).toMatchObject({
      state: "failed",
      error: { code: "LEASE_LOST" },
    });
    expect(statesOf(await outcomesOf(store, once)).slice(1)).toEqual(Array(5).fill("succeeded"));
    expect((await stepRow(store, once, "items")).state).toBe("failed");

    const often = await listOn(store, { concurrency: 6, retry: { attempts: 9 } });
    // All six are held, so a victim can take only the first one.
    const others = await Hands.open(store, { slots: 6 });
    await others.take();
    await others.retry(others.claimOf(0), 0);
    for (let time = 0; time < 3; time += 1) {
      const victim = await Hands.open(store);
      await until(async () => (await victim.take()).length === 1, "the item is taken again");
      await victim.die(store);
    }
    await drained(store, others);
    await settled(store);
    const outcomes = await outcomesOf(store, often);
    expect(outcomes[0]).toMatchObject({ state: "failed", error: { code: "QUARANTINED" } });
    expect(statesOf(outcomes).slice(1)).toEqual(Array(5).fill("succeeded"));
  });

  test("of a paused run no item starts, and once it is resumed the unstarted ones do", async () => {
    const store = await shared();
    const run = await listOn(store, { concurrency: 2 });
    const worker = await Hands.open(store);
    await worker.take();
    expect(await store.pauseRun(run, true, "test")).toBe(true);
    await worker.swap([worker.claimOf(0)], { appetite: 10 });
    await settled(store);
    expect(await worker.take()).toEqual([]);
    expect(await countsOf(store, run, "items")).toMatchObject({ succeeded: 1, running: 1, waiting: 4 });
    await store.pauseRun(run, false, "test");
    expect(await drained(store, worker)).toEqual([2, 3, 4, 5]);
    expect(statesOf(await outcomesOf(store, run))).toEqual(ITEMS.map(() => "succeeded"));
  });

  test("a list that begins while its run is paused has all its items, and none of them starts", async () => {
    const store = await shared();
    const two = workflow({
      id: "two",
      steps: (s) => s.each("second", s.each("first", [7], work).output, work, { concurrency: 1 }),
    });
    const run = await begun(store, { tasks: [work], workflows: [two] });
    await settled(store);
    const worker = await Hands.open(store);
    expect(await worker.take()).toEqual([7]);
    await store.pauseRun(run, true, "test");
    await worker.swap(worker.held);
    await settled(store);
    expect(await countsOf(store, run, "second")).toMatchObject({ created: 1, waiting: 1 });
    expect(await worker.take()).toEqual([]);
    await store.pauseRun(run, false, "test");
    expect(await worker.take()).toEqual([7]);
  });

  test("of a cancelled run no item starts, what is in flight is aborted, and nothing follows", async () => {
    const store = await shared();
    const run = await listOn(store, { concurrency: 2, retry: TRIES });
    const worker = await Hands.open(store);
    await worker.take();
    await worker.retry(worker.claimOf(0), 3_600_000);
    await worker.take();
    await store.cancelRun(run, "test");
    expect(await worker.dropStale()).toEqual([1, 2]);
    await settled(store);
    expect(await worker.take()).toEqual([]);
    const rows = await store.items(run, "items", { after: -1, limit: 10 });
    expect(rows.map(({ place }) => place)).toEqual(ITEMS.map(() => "cancelled"));
    expect((await store.run(run))?.run.state).toBe("cancelled");
  });
});
