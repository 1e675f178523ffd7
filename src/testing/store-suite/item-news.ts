/** News of items: which step is looked at, and when. */
import { expect, test } from "vitest";
import type { Fresh } from "./bench.ts";
import { NOTHING, scopeOf } from "./bench.ts";
import {
  itemOf,
  itemsOf,
  laneOfItems,
  newsCount,
  over,
  places,
  seen,
  startedOver,
  windowOf,
} from "./fan-bench.ts";
import { leaveNews, look, newRun, newsOf } from "./run-bench.ts";

export function itemNewsSuite(fresh: Fresh<"runs" | "steering">): void {
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
    const news = { run: "r", failed: "each", stops: "items" } as const;
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
}
