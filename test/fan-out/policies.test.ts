// What one failure means for the other items, for every policy and every position of the failure.

import { expect, test } from "vitest";
import type { Reference } from "../../src/index.ts";
import { task, workflow } from "../../src/index.ts";
import type { Store } from "../../src/store/store.ts";
import { deferred } from "../e2e/support/deferred.ts";
import { describeOn } from "../e2e/support/places.ts";
import { working } from "../runs/support/world.ts";
import { begun, Hands, settled, sharedOn, stepRow } from "./support/bench.ts";
import { outcomesOf, stepOf } from "./support/run-view.ts";

const POLICIES = ["run-all", "stop", "cancel"] as const;
type Policy = (typeof POLICIES)[number];

interface Case {
  readonly fails: string;
  readonly items: number;
  readonly failing: readonly number[];
  /**
   * One letter per item: + succeeded, f failed, c cancelled. Two are in flight, and the lower one ends first.
   */
  readonly comesTo: Readonly<Record<Policy, string>>;
}

const CASES: readonly Case[] = [
  {
    fails: "the first item",
    items: 5,
    failing: [0],
    comesTo: { "run-all": "f++++", stop: "f+ccc", cancel: "fcccc" },
  },
  {
    fails: "an item in the middle",
    items: 5,
    failing: [2],
    comesTo: { "run-all": "++f++", stop: "++f+c", cancel: "++fcc" },
  },
  {
    fails: "the last item",
    items: 5,
    failing: [4],
    comesTo: { "run-all": "++++f", stop: "++++f", cancel: "++++f" },
  },
  { fails: "the only item", items: 1, failing: [0], comesTo: { "run-all": "f", stop: "f", cancel: "f" } },
  {
    fails: "every item",
    items: 5,
    failing: [0, 1, 2, 3, 4],
    comesTo: { "run-all": "fffff", stop: "ffccc", cancel: "fcccc" },
  },
];

const work = task({ id: "work", run: async (item: number) => item });
const tell = task({ id: "tell", run: async (all: unknown) => all });

const listed = (onFailure: Policy) =>
  workflow({
    id: "listed",
    steps: (s, input: Reference<number[]>) => {
      const items = s.each("items", input, work, { concurrency: 2, onFailure });
      const { outcomes, output } = items;
      s.step("tell", tell, { outcomes, output }, { after: [items.finished] });
      s.step("next", tell, output);
    },
  });

const OUTCOMES = {
  "+": (item: number) => ({ state: "succeeded", result: item }),
  f: () => ({ state: "failed", error: { name: "Error", message: "no luck" } }),
  c: () => ({
    state: "cancelled",
    error: {
      name: "Error",
      code: "CANCELLED",
      message: "It was cancelled because another item failed.",
      by: "onFailure",
    },
  }),
} as const;

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  const shared = sharedOn(place);
  for (const policy of POLICIES)
    for (const { fails, items, failing, comesTo } of CASES)
      test(`with ${policy}, when ${fails} fails, ${items} items come to ${comesTo[policy]}`, async () => {
        const store = await shared();
        const list = Array.from({ length: items }, (_, index) => index);
        const run = await begun(store, { tasks: [work, tell], workflows: [listed(policy)] }, list);
        await settled(store);
        const worker = await Hands.open(store, { slots: 2 });
        const started = await worker.take();
        while (worker.held.length > 0) {
          started.push(...(await endLowest(store, worker, failing)));
        }
        const letters = [...comesTo[policy]] as (keyof typeof OUTCOMES)[];
        const outcomes = letters.map((letter, index) => OUTCOMES[letter](index));
        // Every item that ended had started. With cancel, one more was in flight beside the failed item.
        const ended = letters.filter((letter) => letter !== "c").length;
        expect(started).toEqual(list.slice(0, policy === "cancel" ? ended + 1 : ended));

        const step = await stepRow(store, run, "items");
        expect(step.state).toBe("failed");
        expect(JSON.parse(step.body as string)).toEqual(outcomes);
        expect((await stepRow(store, run, "next")).state).toBe("skipped");
        const follower = await Hands.open(store, { tasks: ["tell"] });
        const output = letters.map((letter, index) => (letter === "+" ? index : null));
        expect(await follower.take()).toEqual([{ outcomes, output }]);
        await follower.swap(follower.held);
        await settled(store);
        const ending = (await store.run(run))?.run;
        expect(ending?.state).toBe("failed");
        expect(JSON.parse(ending?.body as string)).toMatchObject({ code: "STEPS_FAILED", steps: ["items"] });
        expect((await store.gates()).filter(({ held }) => held > 0)).toEqual([]);
      });

  test("the step has failed although the item that finished last has succeeded", async () => {
    const store = await shared();
    const run = await begun(store, { tasks: [work, tell], workflows: [listed("run-all")] }, [0, 1]);
    await settled(store);
    const worker = await Hands.open(store);
    await worker.take();
    await worker.swap([worker.claimOf(0)], { to: "failed" });
    await settled(store);
    expect((await stepRow(store, run, "items")).state).toBe("open");
    await worker.swap([worker.claimOf(1)]);
    await settled(store);
    expect((await stepRow(store, run, "items")).state).toBe("failed");
  });
});

/** Ends the lower item in flight. The same pass fills its slot if anything may fill it. */
async function endLowest(store: Store, worker: Hands, failing: readonly number[]): Promise<unknown[]> {
  const lowest = Math.min(...worker.held.map(({ input }) => Number(input)));
  const to = failing.includes(lowest) ? "failed" : "succeeded";
  const started = await worker.swap([worker.claimOf(lowest)], { to, appetite: 2 });
  await settled(store);
  // An aborted item is no longer held.
  await worker.dropStale();
  return [...started, ...(await worker.take())];
}

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("with cancel, the signals of items in flight fire at once, without a poll or a heartbeat", async () => {
    const begunItems: number[] = [];
    const aborted: number[] = [];
    const allIn = deferred();
    const stay = task({
      id: "stay",
      run: async (item: number, { signal }) => {
        begunItems.push(item);
        if (begunItems.length === 3) allIn.resolve();
        await allIn.promise;
        if (item === 1) throw new Error("no luck");
        await new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve());
        });
        aborted.push(item);
        throw signal.reason;
      },
    });
    const strict = workflow({
      id: "strict",
      steps: (s) => s.each("items", [0, 1, 2], stay, { concurrency: 3, onFailure: "cancel" }),
    });
    const sluice = await working(
      place,
      { tasks: [stay], workflows: [strict], session: { lease: "5m", heartbeat: "30s" } },
      { poll: "1h", pollJitter: "0ms" },
    );
    const { id } = await sluice.submit(strict, undefined);
    expect(await sluice.runs.ended(id)).toMatchObject({ state: "failed" });
    await expect.poll(() => aborted.sort(), { timeout: 40_000 }).toEqual([0, 2]);
    expect((await outcomesOf(sluice, id, "items")).map(({ state }) => state)).toEqual([
      "cancelled",
      "failed",
      "cancelled",
    ]);
  });

  test("with stop, items in flight finish with their results, and the others never start", async () => {
    const begunItems: number[] = [];
    const isOver = deferred();
    const some = task({
      id: "some",
      run: async (item: number) => {
        begunItems.push(item);
        if (item === 0) throw new Error("no luck");
        await isOver.promise;
        return item * 10;
      },
    });
    const early = workflow({
      id: "early",
      steps: (s) => s.each("items", [0, 1, 2, 3, 4, 5, 6, 7], some, { concurrency: 3, onFailure: "stop" }),
    });
    const sluice = await working(place, { tasks: [some], workflows: [early] });
    const { id } = await sluice.submit(early, undefined);
    await expect
      .poll(async () => (await stepOf(sluice, id, "items")).items, { timeout: 40_000 })
      .toMatchObject({ waiting: 0 });
    isOver.resolve();
    expect(await sluice.runs.ended(id)).toMatchObject({ state: "failed" });
    const outcomes = await outcomesOf(sluice, id, "items");
    expect(begunItems).toEqual([0, 1, 2]);
    expect(outcomes.map(({ state }) => state)).toEqual([
      "failed",
      ...Array(2).fill("succeeded"),
      ...Array(5).fill("cancelled"),
    ]);
    expect(outcomes[2]).toEqual({ state: "succeeded", result: 20 });
  });
});
