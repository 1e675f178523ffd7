import { expect, test } from "vitest";
import type { Fresh } from "./bench.ts";
import { BILL, BULK, NOTHING, newTask, scopeOf } from "./bench.ts";

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

  test("reads tasks and runs by their ids", async () => {
    const bench = await fresh();
    await bench.enqueue("a", "b");
    await bench.session();
    await bench.report(await bench.claimOne("b"), { to: "succeeded" });
    const found = await bench.store.tasksById(["b", "nobody", "a"]);
    expect(found.sort((one, other) => (one.id < other.id ? -1 : 1))).toEqual([
      await bench.store.task("a"),
      await bench.store.task("b"),
    ]);
  });
}
