import { expect, test } from "vitest";
import { laneOf } from "../../store/lane.ts";
import { RUNS } from "../../store/runs.ts";
import type { NewTask } from "../../store/store.ts";
import type { Fresh } from "./bench.ts";
import { BILL, BULK, MAIL, newTask } from "./bench.ts";
import { NIGHTLY, newRun, started } from "./run-bench.ts";

export function lineSuite(fresh: Fresh<"lines" | "declarations" | "runs" | "holdings" | "steering">): void {
  test("shows everything that waits in one queue, in order, with what is needed to judge it", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a", newTask("bulk", { lane: BULK, priority: 2 }), newTask("bill", { lane: BILL }));
    await bench.enqueue("b", newTask("later", { delayMs: 9 }), "c");
    await bench.claim(["c"]);
    const seen = await bench.store.line("mail", 10);
    expect(seen.heads.map(({ id, lane, priority }) => [id, lane, priority])).toEqual([
      ["bulk", BULK.id, 2],
      ["a", MAIL.id, 0],
      ["b", MAIL.id, 0],
    ]);
    expect(seen.lanes.map(({ id }) => id)).toEqual([BULK.id, MAIL.id].sort());
    expect(seen.gates.map(({ key }) => key)).toContain("pool:smtp");
    expect(seen.usage).toMatchObject([{ lane: MAIL.id, session: "s1", units: 1 }]);
    expect(seen.sessions.map(({ id }) => id).sort()).toEqual([RUNS, "s1"]);
    expect([seen.cut, seen.now]).toEqual([false, bench.clock.now()]);
  });

  test("is cut where it is longer than one wants to see", async () => {
    const bench = await fresh();
    await bench.enqueue("a", "b", "c");
    await bench.intake();
    const seen = async (limit: number) => {
      const { heads, cut } = await bench.store.line("mail", limit);
      return [heads.map(({ id }) => id), cut];
    };
    expect(await seen(2)).toEqual([["a", "b"], true]);
    expect(await seen(3)).toEqual([["a", "b", "c"], false]);
    expect(await bench.store.line("nowhere", 3)).toMatchObject({
      heads: [],
      lanes: [],
      cut: false,
      total: 0,
    });
  });

  test("is shown page by page, with all who stand ahead of the page", async () => {
    const bench = await fresh();
    await bench.enqueue("a", "b", newTask("bulk", { lane: BULK }), "c", "d");
    await bench.enqueue(newTask("later", { delayMs: 9 }));
    const seen = await bench.store.line("mail", 2, 3);
    expect([seen.heads.map(({ id }) => id), seen.cut, seen.total, seen.later]).toEqual([
      ["c", "d"],
      false,
      5,
      1,
    ]);
    expect(seen.front.map(({ id }) => id).sort()).toEqual(["a", "b", "bulk"]);
    const units = Object.fromEntries(seen.ahead.map(({ lane, asks, units: n }) => [lane, [asks, n]]));
    expect(units).toEqual({ [MAIL.id]: [MAIL.asks, 2], [BULK.id]: [BULK.asks, 1] });
    expect(await bench.store.line("mail", 2, 9)).toMatchObject({
      heads: [],
      ahead: [],
      cut: false,
      total: 5,
    });
  });

  test("far behind its front still counts all, and shows the first of each lane", async () => {
    const bench = await fresh();
    await bench.enqueue(newTask("bulk", { lane: BULK }), "a", "b", "c");
    await bench.intake();
    await bench.enqueue("d", "e");
    const seen = await bench.store.line("mail", 6_000, 4);
    expect(seen.heads.map(({ id }) => id)).toEqual(["d", "e"]);
    expect(seen.ahead.reduce((sum, { units }) => sum + units, 0)).toBe(4);
    expect(seen.front.map(({ id }) => id).sort()).toEqual(["a", "b", "bulk", "c"]);
  });

  test("of runs that are put off, in the order in which they come, and of runs by their ids", async () => {
    const bench = await fresh();
    await bench.store.submit([
      newRun("c", { delayMs: 30 }),
      newRun("a"),
      newRun("b", { delayMs: 10 }),
      newRun("d", { delayMs: 20 }),
    ]);
    const ids = async (limit: number, offset: number) =>
      (await bench.store.laterRuns(limit, offset)).map(({ id }) => id);
    expect([await ids(9, 0), await ids(1, 1), await ids(9, 3)]).toEqual([["b", "d", "c"], ["d"], []]);
    const named = await bench.store.runs({ ids: ["a", "c", "nobody"], limit: 9 });
    expect(named.map(({ id }) => id)).toEqual(["c", "a"]);
  });

  test("shows runs that no pass has taken in yet", async () => {
    const bench = await fresh();
    await bench.store.submit([newRun("a"), newRun("b", { priority: 1 }), newRun("c", { direct: true })]);
    const before = await bench.store.line(RUNS, 9);
    expect(before.heads.map(({ id }) => id)).toEqual(["b", "a"]);
    const { id, queue, task, asks } = NIGHTLY;
    expect(before.lanes).toMatchObject([{ id, queue, task, asks, rank: 100 }]);
  });

  test("has the rank of its queue, also before a pass has taken it in", async () => {
    const bench = await fresh();
    await bench.store.declare({ queues: [{ name: "mail", rank: 3 }], gates: [] });
    await bench.enqueue("a");
    expect((await bench.store.line("mail", 9)).lanes).toMatchObject([{ id: MAIL.id, rank: 3 }]);
    await bench.intake();
    expect((await bench.store.line("mail", 9)).lanes).toMatchObject([{ id: MAIL.id, rank: 3 }]);
  });

  test("is counted lane by lane, also what no pass has taken in yet", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a", "b", newTask("bulk", { lane: BULK }), newTask("later", { delayMs: 9 }));
    await bench.claim(["a"]);
    await bench.store.submit([newRun("r")]);
    await bench.enqueue("c");
    const counted = (await bench.store.waiting()).map(({ queue, task, asks, units }) => [
      queue,
      task,
      asks,
      units,
    ]);
    expect(counted).toEqual([
      [RUNS, "nightly", NIGHTLY.asks, 1],
      ["mail", "bulk", BULK.asks, 1],
      ["mail", "send", MAIL.asks, 2],
    ]);
  });

  test("tells which gates are asked for, whoever asks, also before a pass has seen it", async () => {
    const bench = await fresh();
    const asking = (id: string, more: Partial<NewTask> = {}) =>
      newTask(id, { lane: laneOf("mail", "send", [{ gate: `pool:${id}`, slots: 1 }]), ...more });
    expect(await bench.store.asked()).toEqual([]);
    await bench.enqueue(asking("new"), asking("late", { delayMs: 9 }));
    expect(await bench.store.asked()).toEqual(["pool:late", "pool:new"]);
    await bench.session();
    await bench.claim(["new"]);
    await bench.enqueue("plain", asking("gone"));
    await bench.intake();
    await bench.store.cancel("gone", "ann");
    expect(await bench.store.asked()).toEqual(["pool:late", "pool:new", "pool:smtp", "queue:mail"]);
  });

  test("of holders: who has slots of a gate, since when, and for how much longer", async () => {
    const bench = await fresh();
    await bench.session("s1", { leaseMs: 900_000 });
    await started(bench, "r", "fetch");
    await bench.enqueue("plain", newTask("bulk", { lane: BULK }), newTask("bill", { lane: BILL }), "ahead");
    const at = bench.clock.now();
    await bench.claim(["bulk"]);
    await bench.claim(["ahead"], { held: false });
    bench.clock.advance(10);
    await bench.claim(["r-fetch"], { leaseMs: 1_000 });
    await bench.claim(["bill"]);
    bench.clock.advance(10);
    expect(await bench.store.holders("pool:smtp")).toEqual([
      {
        id: "bulk",
        name: "bulk",
        run: null,
        step: null,
        slots: 3,
        session: "s1",
        claimedAt: at,
        leaseLeftMs: null,
      },
      {
        id: "r-fetch",
        name: "send",
        run: "r",
        step: "fetch",
        slots: 1,
        session: "s1",
        claimedAt: at + 10,
        leaseLeftMs: 990,
      },
    ]);
    expect((await bench.store.holders("runs")).map(({ id, session }) => [id, session])).toEqual([
      ["r", RUNS],
    ]);
    bench.clock.advance(990);
    expect((await bench.store.holders("pool:smtp")).map(({ id }) => id)).toEqual(["bulk"]);
    expect(await bench.store.holders("nowhere")).toEqual([]);
  });

  test("of each queue is counted, by rank; its gates are listed by key, with what is held", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.store.declare({
      queues: [
        { name: "money", rank: 1 },
        { name: "mail", rank: 5 },
      ],
      gates: [],
    });
    await bench.enqueue("a", "b", newTask("c", { lane: BULK }), newTask("d", { lane: BILL, delayMs: 4 }));
    await bench.claim(["a", "c"]);
    expect((await bench.store.gates()).map(({ key, held }) => [key, held])).toEqual([
      ["pool:smtp", 4],
      ["queue:mail", 2],
      ["queue:money", 0],
    ]);
    const ranks = (rank: number) => [{ app: "default", rank }];
    expect(await bench.store.queues()).toEqual([
      { name: "money", rank: 1, ranks: ranks(1), waiting: 0, running: 0, later: 1 },
      { name: "mail", rank: 5, ranks: ranks(5), waiting: 1, running: 2, later: 0 },
    ]);
  });

  test("shows all that one wait depends on", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.store.changeLimit({ key: "pool:smtp", to: "value", limit: 3, by: "me" });
    await bench.enqueue("run", "first", "me");
    bench.clock.advance(5);
    await bench.enqueue(
      newTask("high", { lane: BULK, priority: 1 }),
      newTask("other", { lane: BILL }),
      "after",
    );
    await bench.claim(["run"]);
    expect(await bench.store.wait("nobody")).toBeUndefined();
    const view = await bench.store.wait("me");
    expect(view).toMatchObject({ now: bench.clock.now(), rank: 100, task: { id: "me", state: "waiting" } });
    expect(view?.gates.find(({ key }) => key === "pool:smtp")).toMatchObject({ limit: 3 });
    expect(view?.usage).toMatchObject([{ lane: MAIL.id, session: "s1", units: 1, held: true }]);
    expect(new Set(view?.lanes.map(({ id }) => id))).toEqual(new Set([MAIL.id, BULK.id]));
    expect(view?.sessions.map(({ id }) => id).sort()).toEqual([RUNS, "s1"]);
    expect(view?.holders).toEqual([
      { id: "run", name: "send", lane: MAIL.id, session: "s1", since: bench.clock.now(), held: true },
    ]);
    expect(view?.ahead.map(({ lane, units }) => [lane, units]).sort()).toEqual(
      [
        [MAIL.id, 1],
        [BULK.id, 1],
      ].sort(),
    );
    expect(view?.heads.map(({ id }) => id).sort()).toEqual(["after", "first", "high", "me"]);
    expect([view?.aheadAt, view?.before]).toEqual([{ "pool:smtp": 2, "queue:mail": 2 }, 2]);
    // Its own lane and the lanes of units behind it compete too, each named once.
    const { queue, task, asks } = MAIL;
    expect(view?.rivals).toContainEqual({ queue, task, asks });
    expect(new Set(view?.rivals.map((each) => JSON.stringify(each))).size).toBe(view?.rivals.length);
  });

  test("has a queue that counts it at once, before a pass has taken it in and after", async () => {
    const bench = await fresh();
    await bench.enqueue("a", "b", newTask("c", { lane: BILL }));
    const counted = async () => (await bench.store.queues()).map(({ name, waiting }) => [name, waiting]);
    const both = [
      ["mail", 2],
      ["money", 1],
    ];
    expect(await counted()).toEqual(both);
    await bench.intake();
    expect(await counted()).toEqual(both);
  });

  test("has a queue that counts what is delayed apart, and two thousand as well as two", async () => {
    const bench = await fresh();
    await bench.enqueue(
      newTask("delay", { delayMs: 500 }),
      newTask("time", { runAt: bench.clock.now() + 900 }),
    );
    await bench.enqueue(...Array.from({ length: 2_000 }, (_, index) => `t${index}`));
    await bench.intake();
    expect(await bench.store.queues()).toMatchObject([
      { name: "mail", waiting: 2_000, later: 2, running: 0 },
    ]);
  });
}
