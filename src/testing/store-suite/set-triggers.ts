import { expect, test } from "vitest";
import type { NewTrigger, TriggerRow } from "../../store/triggers.ts";
import type { BenchWith, Fresh } from "./bench.ts";
import { newTask } from "./bench.ts";

const NAME = "set-schedule nightly";
const SPEC = '{"cron":"0 3 * * *"}';
const trigger = (more: Partial<NewTrigger> = {}): NewTrigger => ({
  name: NAME,
  kind: "schedule",
  workflow: null,
  spec: SPEC,
  paused: false,
  ...more,
});

type Ports = "triggers" | "declarations" | "steering";
type TriggerBench = BenchWith<Ports>;

const rowOf = async ({ store }: TriggerBench, name = NAME): Promise<TriggerRow | undefined> =>
  (await store.triggers()).triggers.find((row) => row.name === name);

export function setTriggerSuite(fresh: Fresh<Ports>): void {
  const declaring = (bench: TriggerBench, ...triggers: readonly NewTrigger[]) =>
    bench.store.declare({ app: "shop", queues: [], gates: [], triggers });

  test("is due at once, belongs to no app, and a deploy does not touch it", async () => {
    const bench = await fresh();
    expect(await bench.store.setTrigger(trigger(), "ann")).toEqual({ created: true });
    const row = await rowOf(bench);
    expect(row).toMatchObject({ app: null, spec: SPEC, nextAt: bench.clock.now(), paused: false, stamp: 0 });
    await declaring(bench, trigger({ name: "schedule nightly" }));
    await declaring(bench);
    expect(await rowOf(bench)).toEqual(row);
  });

  test("that is set again goes by its new times, keeps its state and its pause, and refuses who was at it", async () => {
    const bench = await fresh();
    const { store, clock } = bench;
    await store.setTrigger(trigger(), "ann");
    await store.fire({ name: NAME, stamp: 0, state: '{"n":1}', nextAt: clock.now() + 500, submit: [] });
    await store.pauseTrigger(NAME, true, "ann");
    const { stamp = -1 } = (await rowOf(bench)) ?? {};
    expect(await store.setTrigger(trigger({ spec: "{}", workflow: "w" }), "bob")).toEqual({ created: false });
    const changed = { spec: "{}", workflow: "w", state: '{"n":1}', paused: true, nextAt: clock.now() };
    expect(await rowOf(bench)).toMatchObject(changed);
    expect(await store.takeTrigger(NAME, stamp, 1)).toBeUndefined();
  });

  test("that is set by many at once is created once", async () => {
    const bench = await fresh();
    const set = await Promise.allSettled(["a", "b", "c"].map((by) => bench.store.setTrigger(trigger(), by)));
    const done = set.flatMap((each) => (each.status === "fulfilled" ? [each.value.created] : []));
    expect(done.filter(Boolean).length).toBeGreaterThanOrEqual(1);
    expect((await bench.store.triggers()).triggers).toHaveLength(1);
  });

  test("is gone once it is removed, with its history left, and cannot be fired by who was at it", async () => {
    const bench = await fresh();
    const { store } = bench;
    await store.setTrigger(trigger(), "ann");
    expect(await store.removeTrigger(NAME, "bob")).toBe(true);
    expect(await store.removeTrigger(NAME, "bob")).toBe(false);
    expect(await rowOf(bench)).toBeUndefined();
    expect(await store.fire({ name: NAME, stamp: 0, state: "{}", nextAt: null, submit: [] })).toBeUndefined();
    await store.setTrigger(trigger(), "ann");
    const events = (await store.events(NAME)).map(({ n, kind, data }) => [n, kind, JSON.parse(data ?? "")]);
    const set = { by: "ann", spec: { workflow: null, cron: "0 3 * * *" } };
    expect(events).toEqual([
      [1, "TriggerSet", set],
      [2, "TriggerRemoved", { by: "bob" }],
      [3, "TriggerSet", set],
    ]);
  });

  test("of an app is not removed, but one that its app has left behind is", async () => {
    const bench = await fresh();
    const name = "schedule nightly";
    await declaring(bench, trigger({ name }));
    expect(await bench.store.removeTrigger(name, "ann")).toBe(false);
    expect(await rowOf(bench, name)).toBeDefined();
    await declaring(bench);
    expect(await bench.store.removeTrigger(name, "ann")).toBe(true);
    expect(await rowOf(bench, name)).toBeUndefined();
  });

  test("puts tasks in line with its decision, each key once, and nothing under an old stamp", async () => {
    const bench = await fresh();
    const { store } = bench;
    await store.setTrigger(trigger(), "ann");
    const firing = { name: NAME, state: "{}", nextAt: null, submit: [] };
    const task = (id: string) => newTask(id, { key: "03:00" });
    expect(await store.fire({ ...firing, stamp: 0, enqueue: [task("a")] })).toEqual([
      { id: "a", created: true },
    ]);
    expect(await store.fire({ ...firing, stamp: 0, enqueue: [newTask("b")] })).toBeUndefined();
    expect(await store.fire({ ...firing, stamp: 1, enqueue: [task("c")] })).toEqual([
      { id: "a", created: false },
    ]);
    expect(await bench.store.tasks({ limit: 9 })).toHaveLength(1);
    expect(await bench.history("a")).toEqual(["1 TaskEnqueued"]);
  });

  test("can ask whether one task is in line or in progress", async () => {
    const bench = await fresh();
    const active = () => bench.store.activeRuns({ unit: "a" });
    await bench.session();
    expect(await active()).toEqual({ queued: false, inProgress: false });
    await bench.enqueue(newTask("a", { delayMs: 5 }), "b");
    expect(await active()).toEqual({ queued: true, inProgress: false });
    bench.clock.advance(5);
    await bench.store.tend("");
    expect(await active()).toEqual({ queued: true, inProgress: false });
    const claim = await bench.claimOne("a");
    expect(await active()).toEqual({ queued: false, inProgress: true });
    // It is over, but its code still runs.
    await bench.store.cancel("a", "ann");
    expect(await active()).toEqual({ queued: false, inProgress: true });
    await bench.stopped(claim);
    expect(await active()).toEqual({ queued: false, inProgress: false });
  });
}
