import { expect, test } from "vitest";
import type { Fresh } from "./bench.ts";
import { BILL, newTask } from "./bench.ts";

export function keySuite(fresh: Fresh): void {
  test("that is taken names the task that has it, and enqueues nothing", async () => {
    const bench = await fresh();
    await bench.enqueue(newTask("a", { key: "k" }));
    expect(await bench.store.enqueue([newTask("b", { key: "k", priority: 5 })])).toEqual([
      { id: "a", created: false },
    ]);
    expect(await bench.state("b")).toBeUndefined();
    expect(await bench.history("a")).toEqual(["1 TaskEnqueued"]);
    await bench.intake();
    expect((await bench.look()).heads.map(({ id }) => id)).toEqual(["a"]);
  });

  test("belongs to one kind of task: another kind may use the same", async () => {
    const { store } = await fresh();
    const both = await store.enqueue([newTask("a", { key: "k" }), newTask("b", { key: "k", lane: BILL })]);
    expect(both.map(({ created }) => created)).toEqual([true, true]);
  });

  test("used twice in one call makes one task; those without a key are not concerned", async () => {
    const bench = await fresh();
    const tasks = [newTask("a", { key: "k" }), newTask("b"), newTask("c", { key: "k" }), newTask("d")];
    expect(await bench.store.enqueue(tasks)).toEqual([
      { id: "a", created: true },
      { id: "b", created: true },
      { id: "a", created: false },
      { id: "d", created: true },
    ]);
    await bench.intake();
    expect((await bench.look()).heads.map(({ id }) => id)).toEqual(["a", "b", "d"]);
  });

  test("stays taken while its task is delayed, runs, or has ended", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue(
      newTask("later", { key: "1", delayMs: 10 }),
      newTask("run", { key: "2" }),
      newTask("end", { key: "3" }),
    );
    const [run, end] = await bench.claim(["run", "end"]);
    expect(run).toBeDefined();
    if (end) await bench.report(end, { to: "succeeded" });
    const again = await bench.store.enqueue(["1", "2", "3"].map((key) => newTask(`again${key}`, { key })));
    expect(again).toEqual(["later", "run", "end"].map((id) => ({ id, created: false })));
  });

  test("that two enqueue at the same time makes one task", async () => {
    const bench = await fresh();
    const tries = Array.from({ length: 12 }, (_, index) =>
      bench.store.enqueue([newTask(`t${index}`, { key: "one" })]),
    );
    const answers = (await Promise.all(tries)).flat();
    expect(answers.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(await bench.store.tasks({ limit: 100 })).toHaveLength(1);
  });
}
