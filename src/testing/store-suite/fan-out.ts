import { expect, test } from "vitest";
import type { Results, RunSeen } from "../../store/runs.ts";
import type { Bench, Fresh } from "./bench.ts";
import { NOTHING, scopeOf } from "./bench.ts";
import {
  countsOf,
  itemOf,
  itemsOf,
  laneOfItems,
  moveOn,
  over,
  places,
  readOf,
  startedOver,
  windowOf,
} from "./fan-bench.ts";
import { leaveNews, look, move, newRun, newsOf, open, started, stateOf, unitOf } from "./run-bench.ts";

/** How a look sees the only run there is news of. */
async function seen(bench: Bench): Promise<RunSeen | undefined> {
  return (await look(bench))[0];
}

const newsCount = async (bench: Bench): Promise<number> =>
  (await bench.store.advance(() => ({ moves: [] }))).news;

export function fanOutSuite(fresh: Fresh): void {
  test("is seen with the lane of its items, how many there are, and how many of them are in line", async () => {
    const bench = await fresh();
    await started(bench, "r", "plain");
    await moveOn(bench, "r", {
      steps: [{ ...over("r", "each", { total: 5, created: 2 }), body: "[1,2]" }],
      enqueue: itemsOf("r", "each", [0, 1]),
    });
    await leaveNews(bench, "r");
    const plain = { ...open("r", "plain"), ended: null, fan: null };
    const each = { name: "each", state: "open", unit: null, body: null, ended: null };
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
    expect(await countsOf(bench, key)).toEqual({ ...idle, waiting: 5, failed: 1, cancelled: 1, until: from });
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
      failed: 1,
      until: from,
    });
    await bench.report(first, { to: "succeeded" });
    await bench.report(third, { to: "failed", body: "{}" });
    const until = bench.clock.now();
    expect(await countsOf(bench, key)).toEqual({ ...begun, running: 1, succeeded: 1, failed: 2, until });
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

  test.each([
    [
      "leaves no news of an item that succeeded where the same pass claims another",
      { claims: "each", alone: true },
      0,
    ],
    ["leaves news of an item that succeeded where the pass claims none", { claims: null, alone: true }, 1],
    [
      "leaves news of an item that succeeded where the pass claims of another step",
      { claims: "other", alone: true },
      1,
    ],
    [
      "leaves news of an item that succeeded where others may claim at the same moment",
      { claims: "each", alone: false },
      1,
    ],
  ] as const)("%s", async (_, { claims, alone }, left) => {
    const bench = await fresh();
    await bench.session();
    const [lane, other] = [laneOfItems("r", "each"), laneOfItems("r", "other")];
    await startedOver(bench, "r", "each", [], {
      gates: ["each", "other"].map((step) => ({ key: windowOf("r", step), limit: 2 })),
      steps: [over("r", "each", { total: 2, created: 2 }), over("r", "other", { total: 1, created: 1 })],
      enqueue: [...itemsOf("r", "each", [0, 1]), itemOf("r", "other", 0)],
    });
    const { id, epoch } = await bench.claimOne("r-each-0");
    expect(await newsCount(bench)).toBe(0);
    const finished = [{ id, epoch, to: "succeeded", body: null, delayMs: 0 } as const];
    const scope = scopeOf([lane, other], { finished, news: [{ ...newsOf("r"), lane: lane.id }] });
    const locks = alone ? {} : { exclusive: [], shared: scope.exclusive };
    const { claimed } = await bench.store.pass({ ...scope, ...locks }, ({ heads }) => ({
      ...NOTHING,
      claim: heads
        .filter((head) => claims !== null && head.id.startsWith(`r-${claims}-`))
        .map((head) => ({ id: head.id, held: true })),
    }));
    expect(claimed).toHaveLength(claims === null ? 0 : 1);
    expect(await newsCount(bench)).toBe(left);
  });

  test("of which items did not succeed is named by the news, once", async () => {
    const bench = await fresh();
    await bench.session();
    await startedOver(bench, "r", "each", [0, 1, 2]);
    const [zero, one] = [await bench.claimOne("r-each-0"), await bench.claimOne("r-each-1")];
    await bench.report(zero, { to: "succeeded" }, [newsOf("r")]);
    expect((await seen(bench))?.failed).toEqual([]);
    await bench.report(one, { to: "failed" }, [newsOf("r", "each"), newsOf("r"), newsOf("r", "each")]);
    await leaveNews(bench, "r");
    await bench.report(await bench.claimOne("r-each-2"), { to: "failed" }, [
      newsOf("r", "each"),
      newsOf("r", "before"),
    ]);
    let failed: readonly string[] = [];
    const answer = await bench.store.advance(([run]) => {
      failed = run?.failed ?? [];
      return { moves: [] };
    });
    expect(answer.news).toBe(5);
    expect(failed).toEqual(["before", "each"]);
    await leaveNews(bench, "r");
    expect((await seen(bench))?.failed).toEqual([]);
  });

  test("of which the store itself has ended items is named by the news: one piece for each step", async () => {
    const bench = await fresh();
    const enqueue = ["a", "b"].flatMap((step) =>
      [0, 1, 2, 3].map((item) => itemOf("r", step, item, { goodForMs: item < 2 ? 100 : null })),
    );
    await startedOver(bench, "r", "a", [], { enqueue });
    await startedOver(bench, "r2", "a", [0]);
    await bench.intake();
    const told = async () => {
      let failed: unknown;
      const { news } = await bench.store.advance((runs) => {
        failed = runs.map((run) => [run.id, run.failed]);
        return { moves: [] };
      });
      return [news, failed];
    };
    bench.clock.advance(100);
    const expire = ["r-b-0", "r-a-0", "r2-a-0"];
    await bench.store.pass(scopeOf([]), () => ({ ...NOTHING, expire }));
    expect(await told()).toEqual([
      3,
      [
        ["r", ["a", "b"]],
        ["r2", ["a"]],
      ],
    ]);
    await bench.store.tend();
    expect(await told()).toEqual([2, [["r", ["a", "b"]]]]);
    await bench.store.cancel("r-a-2", "ann");
    expect(await told()).toEqual([1, [["r", ["a"]]]]);
    await bench.store.failWaiting("r-b-2", "{}");
    await bench.store.failWaiting("r-b-3", "{}");
    expect(await told()).toEqual([2, [["r", ["b"]]]]);
  });

  test("hears of a report that was taken, and of none that came too late", async () => {
    const bench = await fresh();
    await bench.session();
    await startedOver(bench, "r", "each", [0, 1]);
    await newsCount(bench);
    const { id, epoch } = await bench.claimOne("r-each-0");
    const finished = [
      { id, epoch, to: "failed", body: null, delayMs: 0, news: { run: "r", failed: "each" } } as const,
    ];
    const report = () => bench.store.pass(scopeOf([], { finished, intake: false }), () => NOTHING);
    await report();
    expect((await seen(bench))?.failed).toEqual(["each"]);
    expect((await report()).accepted).toEqual(new Set());
    expect(await newsCount(bench)).toBe(0);
  });

  test("that stops at a failure has no items in line from that moment on, not even for the same pass", async () => {
    const bench = await fresh();
    await bench.session();
    await startedOver(bench, "r", "each", [0, 1, 2, 3]);
    await startedOver(bench, "r2", "each", [0]);
    const [first] = await bench.claim(["r-each-0", "r-each-1"]);
    const news = { run: "r", failed: "each", stops: true } as const;
    const finished = [
      { id: "r-each-0", epoch: first?.epoch ?? 0, to: "failed", body: null, delayMs: 0, news } as const,
    ];
    const claim = ["r-each-2", "r2-each-0"].map((id) => ({ id, held: true }));
    const { claimed } = await bench.store.pass(scopeOf([], { finished }), () => ({ ...NOTHING, claim }));
    expect(claimed.map(({ id }) => id)).toEqual(["r2-each-0"]);
    expect(await places(bench, "r", "each")).toEqual(["failed", "claimed", "cancelled", "cancelled"]);
  });

  test("has its items tried again at their places", async () => {
    const bench = await fresh();
    await bench.session();
    await startedOver(bench, "r", "each", [0, 1]);
    const at = (await bench.store.task("r-each-0"))?.at;
    bench.clock.advance(100);
    for (const delayMs of [0, 50]) {
      await bench.report(await bench.claimOne("r-each-0"), { to: "retry", delayMs });
      bench.clock.advance(100);
      await bench.store.tend();
      expect(await bench.store.task("r-each-0")).toMatchObject({ state: "waiting", at });
    }
  });

  test("of a run that begins from nothing knows no run before it", async () => {
    const bench = await fresh();
    const options = (more: object): string => JSON.stringify({ startTimeoutMs: 1_000, ...more });
    await bench.store.submit([
      newRun("a", { direct: true, rerunOf: "before", options: options({}) }),
      newRun("b", { direct: true, rerunOf: "before", options: options({ fromNothing: true }) }),
    ]);
    expect((await look(bench)).map(({ id, rerunOf }) => [id, rerunOf])).toEqual([
      ["a", "before"],
      ["b", null],
    ]);
    expect((await bench.store.run("b"))?.run.rerunOf).toBe("before");
  });

  test("is read before a decision: what is written with it, and how its items ended", async () => {
    const bench = await fresh();
    await bench.session();
    await startedOver(bench, "r", "each", [], {
      steps: [{ ...over("r", "each", { total: 9, created: 4 }), body: '["a"]' }, open("r", "plain")],
      enqueue: [...itemsOf("r", "each", [10, 2, 1, 0]), unitOf("r", "plain")],
    });
    await startedOver(bench, "r2", "each", [0]);
    await bench.report(await bench.claimOne("r-each-2"), { to: "failed", body: '{"code":"NO"}' });
    await bench.report(await bench.claimOne("r-each-10"), { to: "succeeded", body: "42" });
    await bench.report(await bench.claimOne("r-each-0"), { to: "succeeded", body: null });
    await bench.report(await bench.claimOne("r-plain"), { to: "succeeded", body: '"plain"' });
    const [each, plain, nowhere] = ["each", "plain", "nowhere"].map((step) => ({ run: "r", step }));
    if (!each || !plain || !nowhere) throw new Error("three were named");
    // Any run may be read, not only those that there is news of.
    const { units, bodies, items } = await readOf(bench, "r2", {
      units: ["r-plain"],
      bodies: [each, plain, nowhere],
      items: [each, plain, { run: "nobody", step: "each" }],
    });
    expect([...units]).toEqual([["r-plain", '"plain"']]);
    expect(new Map(bodies)).toEqual(
      new Map([
        ["r/each", '["a"]'],
        ["r/plain", null],
        ["r/nowhere", null],
      ]),
    );
    expect(new Map(items)).toEqual(
      new Map<string, unknown>([
        [
          "r/each",
          [
            { item: 0, state: "succeeded", body: null },
            { item: 2, state: "failed", body: '{"code":"NO"}' },
            { item: 10, state: "succeeded", body: "42" },
          ],
        ],
        ["r/plain", []],
        ["nobody/each", []],
      ]),
    );
  });

  test("is read piece by piece, and what was read stays", async () => {
    const bench = await fresh();
    await startedOver(bench, "r", "each", [0]);
    await leaveNews(bench, "r");
    const nothing = { units: [], bodies: [], items: [] };
    const key = { run: "r", step: "each" };
    const reads = [
      { ...nothing, units: ["nobody"] },
      { ...nothing, bodies: [key] },
      { ...nothing, items: [key] },
    ];
    const sizes: number[][] = [];
    await bench.store.advance((_, { units, bodies, items }: Results) => {
      sizes.push([units.size, bodies.size, items.size]);
      const read = reads.shift();
      return read ? { read } : { moves: [] };
    });
    expect(sizes).toEqual([
      [0, 0, 0],
      [1, 0, 0],
      [1, 1, 0],
      [1, 1, 1],
    ]);
  });

  test.each([false, true])(
    "has items that are not to start any more; in flight too: %s",
    async (inFlight) => {
      const bench = await fresh();
      await bench.session();
      await startedOver(bench, "r", "each", [], {
        steps: [over("r", "each", { total: 6, created: 5 }), over("r", "other", { total: 1, created: 1 })],
        enqueue: [
          ...itemsOf("r", "each", [0, 1, 2]),
          itemOf("r", "each", 3, { claimTimeoutMs: 40 }),
          itemOf("r", "each", 4, { delayMs: 9, claimTimeoutMs: 50 }),
          itemOf("r", "other", 0, { claimTimeoutMs: 60 }),
        ],
      });
      await startedOver(bench, "r2", "each", [0]);
      await bench.report(await bench.claimOne("r-each-0"), { to: "succeeded", body: "1" });
      const claim = await bench.claimOne("r-each-1");
      await bench.claim(["r-each-2"], { held: false });
      await moveOn(bench, "r", { endItems: [{ step: "each", inFlight }] });
      const flying = inFlight ? ["cancelled", "cancelled"] : ["claimed", "claimed"];
      expect(await places(bench, "r", "each")).toEqual(["succeeded", ...flying, "cancelled", "cancelled"]);
      expect(await bench.store.task("r-each-3")).toMatchObject({
        body: '{"by":"onFailure"}',
        at: bench.clock.now(),
      });
      expect((await bench.store.events("r-each-3")).at(-1)).toMatchObject({
        n: 2,
        kind: "TaskCancelled",
        data: '{"by":"onFailure"}',
      });
      expect([await places(bench, "r", "other"), await places(bench, "r2", "each")]).toEqual([
        ["waiting"],
        ["waiting"],
      ]);
      expect((await bench.store.timers()).nextAt).toBe(bench.clock.now() + 60);
      expect(await newsCount(bench)).toBe(0);
      expect(await bench.report(claim, { to: "succeeded" })).toBe(!inFlight);
      if (inFlight) await bench.stopped(claim);
      expect(await bench.heldAt("pool:smtp")).toBe(0);
      expect(Object.values((await bench.store.inspect()).broken).flatMap(({ ids }) => ids)).toEqual([]);
    },
  );

  test("with more to do makes its run news for itself, once", async () => {
    const bench = await fresh();
    await startedOver(bench, "r", "each", [0], { again: true });
    expect(await bench.store.stirring()).toMatchObject({ news: true });
    await move(bench, "r", { again: true });
    let failed: readonly string[] | undefined;
    const answer = await bench.store.advance(([run]) => {
      failed = run?.failed;
      return { moves: [] };
    });
    expect([answer.news, failed]).toEqual([1, []]);
    await moveOn(bench, "r", { again: true, finish: { state: "failed", body: "{}" } });
    expect(await newsCount(bench)).toBe(1);
    expect(await newsCount(bench)).toBe(0);
  });

  test("is not touched by whoever has seen another epoch of its run", async () => {
    const bench = await fresh();
    await startedOver(bench, "r", "each", [0]);
    await moveOn(bench, "r", {
      epoch: 1_000_000,
      gates: [{ key: windowOf("r", "late"), limit: 1 }],
      steps: [over("r", "each", { total: 9, created: 9 })],
      enqueue: itemsOf("r", "each", [1]),
      endItems: [{ step: "each", inFlight: true }],
      again: true,
    });
    expect(await places(bench, "r", "each")).toEqual(["waiting"]);
    expect(await countsOf(bench, { run: "r", step: "each" })).toMatchObject({ total: 1, created: 1 });
    expect((await bench.store.gates()).map(({ key }) => key)).not.toContain(windowOf("r", "late"));
    expect(await newsCount(bench)).toBe(0);
  });

  test("ends with its run, and its lane and window go", async () => {
    const bench = await fresh();
    await bench.session();
    await startedOver(bench, "r", "each", [0, 1]);
    const claim = await bench.claimOne("r-each-0");
    await bench.store.cancelRun("r", "ann");
    expect(await stateOf(bench, "r")).toBe("cancelled");
    const items = await bench.store.items("r", "each", { after: -1, limit: 9 });
    expect(items.map(({ place, result }) => [place, result])).toEqual([
      ["cancelled", '{"by":"run"}'],
      ["cancelled", '{"by":"run"}'],
    ]);
    await bench.stopped(claim);
    expect(await bench.heldAt("pool:smtp")).toBe(0);
    await look(bench);
    expect((await bench.look([laneOfItems("r", "each")])).lanes).toEqual([]);
    expect((await bench.store.gates()).map(({ key }) => key)).not.toContain(windowOf("r", "each"));
  });

  test("of an earlier run is taken over whole, and a run knows which one that was", async () => {
    const bench = await fresh();
    await startedOver(bench, "r", "each", [0]);
    const done = { ...over("again", "each", { total: 3, created: 3 }), state: "succeeded" } as const;
    const again = newRun("again", { direct: true, rerunOf: "r", steps: [{ ...done, body: "[1]" }] });
    await bench.store.submit([again]);
    const run = await seen(bench);
    expect(run).toMatchObject({ id: "again", rerunOf: "r" });
    expect(run?.steps).toEqual([{ ...done, ended: null, fan: { ...done.fan, left: false } }]);
    expect((await bench.store.run("again"))?.steps[0]).toMatchObject({
      body: "[1]",
      items: {
        total: 3,
        created: 3,
        waiting: 0,
        running: 0,
        succeeded: 0,
        failed: 0,
        since: null,
        until: null,
      },
    });
  });
}
