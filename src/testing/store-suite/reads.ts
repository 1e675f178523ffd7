import { expect, test } from "vitest";
import { RUNS } from "../../store/runs.ts";
import type { Fresh } from "./bench.ts";
import { BILL, BULK, MAIL, NOTHING, newTask, scopeOf } from "./bench.ts";

export function readSuite(fresh: Fresh): void {
  test("gives the store's own time", async () => {
    const { store, clock } = await fresh();
    expect(await store.now()).toBe(clock.now());
    clock.advance(7);
    expect(await store.now()).toBe(clock.now());
  });

  test("of a task nobody has enqueued gives nothing", async () => {
    const { store } = await fresh();
    expect(await store.task("nobody")).toBeUndefined();
    expect(await store.wait("nobody")).toBeUndefined();
    expect(await store.events("nobody")).toEqual([]);
  });

  test("lists tasks, the newest first, by state, queue and name, page by page", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue(
      "a",
      "b",
      newTask("c", { lane: BILL }),
      newTask("d", { lane: BULK }),
      newTask("e", { delayMs: 5 }),
    );
    const started = [await bench.claimOne("b")];
    await bench.store.pass(scopeOf([], { started }), () => NOTHING);
    await bench.claim(["a"], { held: false });
    const ids = async (filter: object) =>
      (await bench.store.tasks({ limit: 10, ...filter })).map(({ id }) => id);
    expect(await ids({})).toEqual(["e", "d", "c", "b", "a"]);
    expect(await ids({ limit: 2 })).toEqual(["e", "d"]);
    expect(await ids({ limit: 2, before: "d" })).toEqual(["c", "b"]);
    expect(await ids({ queue: "mail" })).toEqual(["e", "d", "b", "a"]);
    expect(await ids({ name: "bulk" })).toEqual(["d"]);
    expect(await ids({ state: "running" })).toEqual(["b"]);
    expect(await ids({ state: "claimed" })).toEqual(["a"]);
    expect(await ids({ state: "later" })).toEqual(["e"]);
    expect(await ids({ state: "waiting", queue: "mail" })).toEqual(["d"]);
    expect(await ids({ state: "failed" })).toEqual([]);
  });

  test("finds full ids for the beginning of one", async () => {
    const bench = await fresh();
    await bench.enqueue("01abc", "01abd", "01b", "02");
    expect(await bench.store.find("01ab")).toEqual(["01abc", "01abd"]);
    expect(await bench.store.find("01abc")).toEqual(["01abc"]);
    expect(await bench.store.find("9")).toEqual([]);
  });

  test("shows a history without gaps, whatever happened", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a");
    await bench.report(await bench.claimOne("a"), { to: "returned" });
    const second = await bench.claimOne("a");
    await bench.store.note([{ ...second, kind: "TaskLogged", data: "{}" }]);
    await bench.report(second, { to: "retry", delayMs: 5, body: "{}" });
    bench.clock.advance(5);
    await bench.store.tend();
    await bench.report(await bench.claimOne("a"), { to: "failed", body: "{}" });
    await bench.store.retry("a", "me");
    await bench.store.cancel("a", "me");
    const events = await bench.store.events("a");
    expect(events.map(({ n }) => n)).toEqual(events.map((_, index) => index + 1));
    expect(events.map(({ kind }) => kind)).toEqual([
      "TaskEnqueued",
      "TaskClaimed",
      "TaskReturned",
      "TaskClaimed",
      "TaskLogged",
      "TaskRetried",
      "TaskClaimed",
      "TaskFailed",
      "TaskRetried",
      "TaskCancelled",
    ]);
  });

  test("lists gates by key with what is held, and queues by rank with what they have", async () => {
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

  test("gives the limits of the gates it is asked for, and of those only that are there", async () => {
    const bench = await fresh();
    await bench.store.changeLimit({ key: "pool:a", to: "value", limit: 4, by: "me" });
    const limits = await bench.store.limits(["pool:a", "pool:b"]);
    expect([...limits]).toEqual([["pool:a", 4]]);
    expect((await bench.store.limits([])).size).toBe(0);
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
  });

  test("hears hints until it stops listening", async () => {
    const { store } = await fresh();
    const heard: string[] = [];
    const stop = await store.listen((hint) => heard.push(hint));
    heard.length = 0;
    store.hint("later");
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(heard).toContain("later");
    await stop();
    await new Promise((resolve) => setTimeout(resolve, 50));
    heard.length = 0;
    store.hint("later");
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(heard).toEqual([]);
  });
}
