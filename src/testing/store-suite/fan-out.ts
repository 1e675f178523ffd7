/** A step over a list: its items, its window, and what is shown of both. */
import { expect, test } from "vitest";
import type { Fresh } from "./bench.ts";
import {
  countsOf,
  itemOf,
  itemsOf,
  laneOfItems,
  moveOn,
  over,
  places,
  seen,
  startedOver,
  windowOf,
} from "./fan-bench.ts";
import { leaveNews, look, open, started, unitOf } from "./run-bench.ts";

export function fanOutSuite(fresh: Fresh<"runs" | "steering">): void {
  test("is seen with the lane of its items, how many there are, and how many of them are in line", async () => {
    const bench = await fresh();
    await started(bench, "r", "plain");
    await moveOn(bench, "r", {
      steps: [{ ...over("r", "each", { total: 5, created: 2 }), body: "[1,2]" }],
      enqueue: itemsOf("r", "each", [0, 1]),
    });
    await leaveNews(bench, "r");
    const plain = { ...open("r", "plain"), ended: null, answer: null, fan: null };
    const each = { name: "each", state: "open", unit: null, body: null, ended: null, answer: null };
    const lane = laneOfItems("r", "each").id;
    expect((await seen(bench))?.steps).toEqual([
      { ...each, fan: { lane, total: 5, created: 2, left: true } },
      plain,
    ]);
  });

  test("gets more items later, and keeps what is known of them when only its state changes", async () => {
    const bench = await fresh();
    await startedOver(bench, "r", "each", [0, 1]);
    const fan = async () => {
      await leaveNews(bench, "r");
      return (await seen(bench))?.steps[0]?.fan;
    };
    await moveOn(bench, "r", {
      steps: [over("r", "each", { total: 4, created: 4 })],
      enqueue: itemsOf("r", "each", [2, 3]),
    });
    expect(await fan()).toMatchObject({ total: 4, created: 4 });
    expect(await places(bench, "r", "each")).toEqual(["waiting", "waiting", "waiting", "waiting"]);
    const done = { name: "each", state: "failed", unit: null, body: '["out"]' } as const;
    await moveOn(bench, "r", { steps: [done, open("r", "plain")] });
    expect(await fan()).toEqual({ lane: laneOfItems("r", "each").id, total: 4, created: 4, left: false });
    expect((await bench.store.run("r"))?.steps).toMatchObject([
      { ...done, fan: { total: 4, created: 4 }, items: { total: 4, created: 4 } },
      { ...open("r", "plain"), fan: null, items: null },
    ]);
  });

  test.each(["in line", "delayed", "at work", "claimed ahead of time"])(
    "has items left while one is %s",
    async (where) => {
      const bench = await fresh();
      await bench.session();
      const delayMs = where === "delayed" ? 50 : null;
      await startedOver(bench, "r", "each", [0], { enqueue: [itemOf("r", "each", 0, { delayMs })] });
      await startedOver(bench, "other", "each", [0]);
      if (where === "at work") await bench.claim(["r-each-0"]);
      if (where === "claimed ahead of time") await bench.claim(["r-each-0"], { held: false });
      const left = async () => {
        await leaveNews(bench, "r");
        return (await seen(bench))?.steps[0]?.fan?.left;
      };
      expect(await left()).toBe(true);
      await bench.store.cancel("r-each-0", "ann");
      expect(await left()).toBe(false);
    },
  );

  test("without items has none left", async () => {
    const bench = await fresh();
    await startedOver(bench, "r", "each", []);
    await leaveNews(bench, "r");
    expect((await seen(bench))?.steps[0]?.fan).toMatchObject({ total: 0, created: 0, left: false });
    expect(await bench.store.items("r", "each", { after: -1, limit: 9 })).toEqual([]);
  });

  test("has a window: a gate of the run, which stays as it is once it is there", async () => {
    const bench = await fresh();
    await startedOver(bench, "r", "each", [0]);
    const gate = async () => (await bench.store.gates()).find(({ key }) => key === windowOf("r", "each"));
    const born = { limit: 2, declared: 2, line: "skip", paused: false, setBy: null };
    expect(await gate()).toMatchObject(born);
    await moveOn(bench, "r", { gates: [{ key: windowOf("r", "each"), limit: 7 }] });
    await bench.intake();
    expect(await gate()).toMatchObject(born);
    await bench.store.pauseRun("r", true, "ann");
    expect((await gate())?.paused).toBe(true);
    await moveOn(bench, "r", { finish: { state: "failed", body: "{}" } });
    await look(bench);
    expect(await gate()).toBeUndefined();
  });

  test("has a window that is born closed while its run is paused", async () => {
    const bench = await fresh();
    await started(bench, "r");
    await bench.store.pauseRun("r", true, "ann");
    await moveOn(bench, "r", { gates: [{ key: windowOf("r", "each"), limit: 2 }] });
    const gates = await bench.store.gates();
    expect(gates.find(({ key }) => key === windowOf("r", "each"))).toMatchObject({ limit: 2, paused: true });
  });

  test("shows its items by their places, page by page", async () => {
    const bench = await fresh();
    await bench.session();
    await startedOver(bench, "r", "each", [], {
      steps: [over("r", "each", { total: 9, created: 7 }), open("r", "plain")],
      enqueue: [
        ...itemsOf("r", "each", [10, 3, 2, 1, 0]),
        itemOf("r", "each", 4, { delayMs: 9 }),
        unitOf("r", "plain"),
        itemOf("r", "other", 0),
      ],
    });
    await startedOver(bench, "r2", "each", [0]);
    const enqueuedAt = bench.clock.now();
    const at = bench.clock.advance(5);
    await bench.report(await bench.claimOne("r-each-0"), { to: "succeeded", body: '"done"' });
    await bench.claim(["r-each-1"]);
    await bench.claim(["r-each-2"], { held: false });
    await bench.store.cancel("r-each-3", "ann");
    const all = await bench.store.items("r", "each", { after: -1, limit: 9 });
    const unclaimed = { enqueuedAt, claimedAt: null, finishedAt: null, attempt: 0, result: null, inLine: [] };
    const inLine = [{ from: enqueuedAt, until: at }];
    const claimed = { ...unclaimed, attempt: 1, claimedAt: at, inLine };
    const cancelled = { ...unclaimed, finishedAt: at, result: '{"by":"ann"}', inLine };
    expect(all).toEqual([
      {
        ...claimed,
        item: 0,
        unit: "r-each-0",
        place: "succeeded",
        input: "[0]",
        finishedAt: at,
        result: '"done"',
      },
      { ...claimed, item: 1, unit: "r-each-1", place: "claimed", input: "[1]" },
      { ...claimed, item: 2, unit: "r-each-2", place: "claimed", input: "[2]" },
      { ...cancelled, item: 3, unit: "r-each-3", place: "cancelled", input: "[3]" },
      { ...unclaimed, item: 4, unit: "r-each-4", place: "later", input: "[4]" },
      {
        ...unclaimed,
        item: 10,
        unit: "r-each-10",
        place: "waiting",
        input: "[10]",
        inLine: [{ from: enqueuedAt, until: null }],
      },
    ]);
    expect(await bench.store.items("r", "each", { after: -1, limit: 2 })).toEqual(all.slice(0, 2));
    expect(await bench.store.items("r", "each", { after: 1, limit: 2 })).toEqual(all.slice(2, 4));
    expect(await bench.store.items("r", "each", { after: 10, limit: 2 })).toEqual([]);
    for (const [run, step] of [
      ["r", "plain"],
      ["r", "nowhere"],
      ["nobody", "each"],
    ] as const)
      expect(await bench.store.items(run, step, { after: -1, limit: 9 })).toEqual([]);
  });

  test("tells of a list who waits in it, in order, and when one of its items was last claimed", async () => {
    const bench = await fresh();
    await bench.session();
    await startedOver(bench, "r", "each", [2, 1, 0], {
      timers: [{ lane: laneOfItems("r", "each").id, afterMs: 7 }],
    });
    const lane = laneOfItems("r", "each").id;
    const from = bench.clock.now();
    const inLine = (...items: number[]) => items.map((item) => ({ id: `r-each-${item}`, at: from }));
    expect(await bench.store.standstill(lane)).toEqual({
      open: true,
      claimedAt: null,
      waiting: inLine(0, 1, 2),
    });
    const { due, nextAt } = await bench.store.timers();
    expect({ due, nextAt }).toEqual({ due: [], nextAt: from + 7 });
    const at = bench.clock.advance(10);
    expect((await bench.store.timers()).due).toEqual([{ id: lane, kind: "items", at: from + 7 }]);
    await bench.report(await bench.claimOne("r-each-0"), { to: "succeeded" });
    expect(await bench.store.standstill(lane)).toEqual({ open: true, claimedAt: at, waiting: inLine(1, 2) });
    await bench.store.cancelRun("r", "ann");
    expect((await bench.store.timers()).due).toEqual([]);
    expect(await bench.store.standstill("nowhere")).toBeUndefined();
  });

  test("counts its items, and says since when they are at work and when one ended last", async () => {
    const bench = await fresh();
    await bench.session();
    await startedOver(bench, "r", "each", [0, 1, 2, 3, 4], {
      steps: [over("r", "each", { total: 9, created: 6 })],
      enqueue: [...itemsOf("r", "each", [0, 1, 2, 3, 4]), itemOf("r", "each", 5, { delayMs: 9 })],
    });
    await startedOver(bench, "r2", "each", [0]);
    const key = { run: "r", step: "each" };
    const known = { total: 9, created: 6, enqueuedAt: bench.clock.now() };
    const none = { running: 0, succeeded: 0, failed: 0, cancelled: 0, since: null, until: null };
    const idle = { ...known, ...none, waiting: 6 };
    expect(await countsOf(bench, key)).toEqual(idle);
    const from = bench.clock.now();
    await bench.store.cancel("r-each-4", "ann");
    expect(await countsOf(bench, key)).toEqual({ ...idle, waiting: 5, cancelled: 1, until: from });
    const at = bench.clock.advance(10);
    const first = await bench.claimOne("r-each-0");
    bench.clock.advance(10);
    await bench.claim(["r-each-1"], { held: false });
    const third = await bench.claimOne("r-each-2");
    const begun = { ...known, waiting: 2, cancelled: 1, since: at };
    expect(await countsOf(bench, key)).toEqual({
      ...begun,
      running: 3,
      succeeded: 0,
      failed: 0,
      until: from,
    });
    await bench.report(first, { to: "succeeded" });
    await bench.report(third, { to: "failed", body: "{}" });
    const until = bench.clock.now();
    expect(await countsOf(bench, key)).toEqual({ ...begun, running: 1, succeeded: 1, failed: 1, until });
  });

  test("is shown to people with what is written with it", async () => {
    const bench = await fresh();
    await startedOver(bench, "r", "each", [0], {
      steps: [{ ...over("r", "each", { total: 1, created: 1 }), body: "[7]" }],
    });
    expect((await bench.store.run("r"))?.steps).toMatchObject([
      { name: "each", state: "open", unit: null, body: "[7]", ended: null, task: null, place: null },
    ]);
  });
}
