/** What can be read about items before a decision, and how items and their lists end. */
import { expect, test } from "vitest";
import type { Results } from "../../store/runs.ts";
import type { Fresh } from "./bench.ts";
import {
  countsOf,
  itemOf,
  itemsOf,
  laneOfItems,
  moveOn,
  newsCount,
  over,
  places,
  readOf,
  seen,
  startedOver,
  windowOf,
} from "./fan-bench.ts";
import { leaveNews, look, move, newRun, open, stateOf, unitOf } from "./run-bench.ts";

export function itemEndingSuite(fresh: Fresh<"runs" | "inspection">): void {
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
    // Any run can be read, not only runs with news.
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

  test("is read once, however often one look asks for it", async () => {
    const bench = await fresh();
    await bench.session();
    await startedOver(bench, "r", "each", [0]);
    await bench.report(await bench.claimOne("r-each-0"), { to: "succeeded", body: "42" });
    const key = { run: "r", step: "each" };
    const { items } = await readOf(bench, "r", { items: [key, { ...key }] });
    expect([...items]).toEqual([["r/each", [{ item: 0, state: "succeeded", body: "42" }]]]);
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
      // A prefetched claim has not started, so it is not in flight.
      const flying = [inFlight ? "cancelled" : "claimed", "cancelled"];
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
    expect(run?.steps).toEqual([{ ...done, ended: null, answer: null, fan: { ...done.fan, left: false } }]);
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
