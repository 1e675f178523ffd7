import { expect, test } from "vitest";
import type { Fresh } from "./bench.ts";
import { BILL, MAIL, newTask } from "./bench.ts";

export function enqueueSuite(fresh: Fresh): void {
  test("puts a task in line and says so", async () => {
    const { store, clock } = await fresh();
    const answer = await store.enqueue([newTask("a", { priority: 3, options: '{"retry":null}' })]);
    expect(answer).toEqual([{ id: "a", created: true }]);
    expect(await store.task("a")).toEqual({
      id: "a",
      name: "send",
      queue: "mail",
      lane: MAIL.id,
      asks: MAIL.asks,
      priority: 3,
      state: "waiting",
      input: '{"to":"a@b"}',
      options: '{"retry":null}',
      key: null,
      attempt: 0,
      losses: 0,
      createdAt: clock.now(),
      at: clock.now(),
      since: clock.now(),
      session: null,
      epoch: null,
      goodUntil: null,
      holds: false,
      progress: null,
      body: null,
    });
    expect(await store.events("a")).toEqual([
      { subject: "a", n: 1, kind: "TaskEnqueued", at: clock.now(), data: '{"priority":3}' },
    ]);
  });

  test("makes neither gates nor lanes; the next pass does, once", async () => {
    const bench = await fresh();
    await bench.enqueue("a", "b", newTask("c", { lane: BILL }));
    expect(await bench.store.gates()).toEqual([]);
    const { arrived } = await bench.intake();
    expect(new Set(arrived.map(({ id }) => id))).toEqual(new Set([MAIL.id, BILL.id]));
    expect((await bench.store.gates()).map(({ key }) => key)).toEqual([
      "pool:smtp",
      "queue:mail",
      "queue:money",
    ]);
    expect((await bench.intake()).arrived).toEqual([]);
  });

  test("of nothing does nothing", async () => {
    const { store } = await fresh();
    expect(await store.enqueue([])).toEqual([]);
  });

  test("of many keeps each one's place", async () => {
    const bench = await fresh();
    await bench.enqueue(
      newTask("b"),
      newTask("d", { priority: -1 }),
      newTask("c", { priority: 9 }),
      newTask("a"),
    );
    await bench.intake();
    const { heads } = await bench.look();
    expect(heads.map(({ id, priority }) => [id, priority])).toEqual([
      ["c", 9],
      ["a", 0],
      ["b", 0],
      ["d", -1],
    ]);
  });

  test("of two thousand at once is one call", async () => {
    const bench = await fresh();
    const ids = Array.from({ length: 2_000 }, (_, index) => `t${String(index).padStart(5, "0")}`);
    const answer = await bench.store.enqueue(ids.map((id) => newTask(id)));
    expect(answer).toHaveLength(2_000);
    await bench.intake();
    const { heads } = await bench.look([MAIL], { lanes: [{ id: MAIL.id, want: 3_000 }] });
    expect(heads.map(({ id }) => id)).toEqual(ids);
  });

  test("keeps every text as it was", async () => {
    const { store } = await fresh();
    const text = JSON.stringify({
      quote: `'"\\;--`,
      line: "a\nb\u2028",
      far: "日本 🦉 ß",
      long: "x".repeat(200_000),
    });
    await store.enqueue([newTask("a", { input: text, options: text })]);
    const task = await store.task("a");
    expect(task?.input === text && task.options === text).toBe(true);
  });

  test("with a delay or a time waits until then, from the store's own now", async () => {
    const bench = await fresh();
    const now = bench.clock.now();
    await bench.enqueue(newTask("delay", { delayMs: 500 }), newTask("time", { runAt: now + 900 }), "now");
    await bench.intake();
    expect(await bench.store.task("delay")).toMatchObject({ state: "later", at: now + 500 });
    expect(await bench.store.task("time")).toMatchObject({ state: "later", at: now + 900 });
    expect((await bench.look()).heads.map(({ id }) => id)).toEqual(["now"]);
  });

  test("with a deadline keeps it, as an instant or as a span from the store's own now", async () => {
    const bench = await fresh();
    const now = bench.clock.now();
    await bench.enqueue(newTask("instant", { goodUntil: now + 70 }), newTask("span", { goodForMs: 90 }));
    await bench.intake();
    expect((await bench.store.task("instant"))?.goodUntil).toBe(now + 70);
    expect((await bench.store.task("span"))?.goodUntil).toBe(now + 90);
    const { heads } = await bench.look();
    expect(heads.map(({ id, goodUntil }) => [id, goodUntil])).toEqual([
      ["instant", now + 70],
      ["span", now + 90],
    ]);
  });

  test("of an id that is there already fails and changes nothing", async () => {
    const bench = await fresh();
    await bench.enqueue("a");
    await expect(bench.store.enqueue([newTask("b"), newTask("a", { input: "{}" })])).rejects.toThrow();
    expect(await bench.state("b")).toBeUndefined();
    expect(await bench.history("a")).toEqual(["1 TaskEnqueued"]);
  });
}

/** For a store that cannot enqueue inside the caller's transaction. */
export function noCallerTransactionSuite(fresh: Fresh): void {
  test("inside a transaction of the caller's is refused in words", async () => {
    const { store } = await fresh();
    await expect(store.enqueue([newTask("a")], {})).rejects.toMatchObject({ code: "NO_CALLER_TRANSACTION" });
    expect(await store.task("a")).toBeUndefined();
  });
}
