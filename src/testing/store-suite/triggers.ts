import { expect, test } from "vitest";
import { laneOf } from "../../store/lane.ts";
import type { NewRun } from "../../store/runs.ts";
import { RUNS } from "../../store/runs.ts";
import type { NewTrigger, TriggerRow } from "../../store/triggers.ts";
import type { BenchWith, Fresh } from "./bench.ts";
import { newTask } from "./bench.ts";
import type { StoreSuiteOptions } from "./options.ts";

const NIGHTLY: NewTrigger = {
  name: "schedule nightly",
  kind: "schedule",
  workflow: "report",
  spec: '{"cron":"0 3 * * *"}',
  paused: false,
};
const INBOX: NewTrigger = { name: "sensor inbox", kind: "sensor", workflow: null, spec: "{}", paused: true };

const newRun = (id: string, more: Partial<NewRun> = {}): NewRun => ({
  ...newTask(id, { lane: laneOf(RUNS, more.name ?? "report", [{ gate: "runs", slots: 1 }]) }),
  direct: false,
  graph: "{}",
  tags: "{}",
  source: NIGHTLY.name,
  rerunOf: null,
  steps: [],
  ...more,
});

type TriggerPorts = "triggers" | "declarations" | "steering" | "runs";
type TriggerStore = BenchWith<TriggerPorts>["store"];

async function seen(store: TriggerStore, name = NIGHTLY.name): Promise<TriggerRow> {
  const { triggers } = await store.triggers();
  const found = triggers.find((trigger) => trigger.name === name);
  if (!found) throw new Error(`${name} is not there`);
  return found;
}

const declareTriggers = (store: TriggerStore, triggers: readonly NewTrigger[], app = "shop") =>
  store.declare({ app, queues: [], gates: [], triggers });

async function declared(fresh: Fresh<TriggerPorts>): Promise<BenchWith<TriggerPorts>> {
  const bench = await fresh();
  await declareTriggers(bench.store, [NIGHTLY, INBOX]);
  return bench;
}

/** Writes a decision made under the current stamp. */
async function fire(
  store: TriggerStore,
  more: {
    readonly stamp?: number;
    readonly nextAt?: number | null;
    readonly submit?: readonly NewRun[];
  } = {},
) {
  const { name, stamp } = await seen(store);
  return store.fire({ name, stamp, state: '{"n":1}', nextAt: null, submit: [], ...more });
}

export function triggerSuite(fresh: Fresh<TriggerPorts>, { succeedDirectly }: StoreSuiteOptions): void {
  test("that is declared is due at once, and born paused if it says so", async () => {
    const { store, clock } = await declared(fresh);
    const state = { state: "{}", nextAt: clock.now(), stamp: 0, busy: false };
    expect(await store.triggers()).toEqual({
      now: clock.now(),
      triggers: [
        { ...NIGHTLY, ...state, app: "shop" },
        { ...INBOX, ...state, app: "shop" },
      ],
    });
  });

  test("that is declared again as it was stays as it is", async () => {
    const { store, clock } = await declared(fresh);
    await fire(store, { nextAt: clock.now() + 500 });
    await store.pauseTrigger(INBOX.name, false, "ann");
    const before = await store.triggers();
    await declareTriggers(store, [INBOX, NIGHTLY]);
    expect(await store.triggers()).toEqual(before);
  });

  test("that its app no longer declares keeps its state, is nobody's, and cannot be fired by who was at it", async () => {
    const { store, clock } = await declared(fresh);
    await fire(store, { nextAt: clock.now() + 500 });
    const { stamp } = await seen(store);
    await declareTriggers(store, [INBOX]);
    const left = { app: null, state: '{"n":1}', nextAt: clock.now() + 500, stamp: stamp + 1 };
    expect(await seen(store)).toMatchObject(left);
    expect(await fire(store, { stamp, submit: [newRun("r1")] })).toBeUndefined();
    await declareTriggers(store, [NIGHTLY], "other");
    expect(await seen(store)).toMatchObject({ ...left, app: "other" });
  });

  test("of one app is not changed by another, which is refused with all that it declares", async () => {
    const { store } = await declared(fresh);
    const before = await store.triggers();
    const declaration = {
      app: "other",
      queues: [],
      gates: [{ key: "pool:other", limit: 1, line: "bypass" }],
      triggers: [{ ...NIGHTLY, spec: "{}" }],
    } as const;
    await expect(store.declare(declaration)).rejects.toMatchObject({ code: "TRIGGER_TAKEN" });
    expect(await store.triggers()).toEqual(before);
    expect(await store.gates()).toEqual([]);
    await store.declare({ ...declaration, triggers: [] });
    expect(await store.triggers()).toEqual(before);
  });

  test("that is declared otherwise keeps its state and is looked at at once, by a new stamp", async () => {
    const { store, clock } = await declared(fresh);
    await fire(store, { nextAt: clock.now() + 500 });
    const { stamp } = await seen(store);
    await declareTriggers(store, [
      { ...NIGHTLY, workflow: "other", spec: '{"cron":"0 4 * * *"}', paused: true },
    ]);
    expect(await seen(store)).toMatchObject({
      workflow: "other",
      spec: '{"cron":"0 4 * * *"}',
      state: '{"n":1}',
      nextAt: clock.now(),
      paused: false,
      stamp: stamp + 1,
    });
    expect((await store.triggers()).triggers).toHaveLength(2);
  });

  test("that is declared otherwise keeps what was due before", async () => {
    const { store, clock } = await declared(fresh);
    const then = clock.now();
    clock.advance(1_000);
    await declareTriggers(store, [{ ...NIGHTLY, spec: "{}" }]);
    expect((await seen(store)).nextAt).toBe(then);
    await fire(store, { nextAt: null });
    await declareTriggers(store, [NIGHTLY]);
    expect((await seen(store)).nextAt).toBe(clock.now());
  });

  test("that fires leaves its state, its next look and its runs", async () => {
    const { store, clock } = await declared(fresh);
    const answer = await fire(store, {
      nextAt: 7_000_000,
      submit: [newRun("r1"), newRun("r2", { priority: 3 })],
    });
    expect(answer).toEqual([
      { id: "r1", created: true },
      { id: "r2", created: true },
    ]);
    expect(await seen(store)).toMatchObject({ state: '{"n":1}', nextAt: 7_000_000, stamp: 1, busy: false });
    expect(await store.task("r2")).toMatchObject({ state: "waiting", priority: 3, at: clock.now() });
  });

  test("that fires by an old stamp changes nothing and says so", async () => {
    const { store } = await declared(fresh);
    await fire(store, { nextAt: 5 });
    const before = await seen(store);
    expect(await fire(store, { stamp: 0, nextAt: 9, submit: [newRun("r1")] })).toBeUndefined();
    expect(await seen(store)).toEqual(before);
    expect(await store.task("r1")).toBeUndefined();
    const nobody = { name: "schedule nobody", stamp: 0, state: "{}", nextAt: null, submit: [newRun("r1")] };
    expect(await store.fire(nobody)).toBeUndefined();
  });

  test("that many fire at once fires once", async () => {
    const { store } = await declared(fresh);
    const ids = ["r1", "r2", "r3", "r4", "r5", "r6"];
    const answers = await Promise.all(ids.map((id) => fire(store, { stamp: 0, submit: [newRun(id)] })));
    const winners = answers.flatMap((answer) => answer ?? []);
    expect(winners).toHaveLength(1);
    expect((await store.runs({ limit: 10 })).map(({ id }) => id)).toEqual(winners.map(({ id }) => id));
    expect((await seen(store)).stamp).toBe(1);
  });

  test("finds a run with the same key where it is, and moves on all the same", async () => {
    const { store } = await declared(fresh);
    await fire(store, { submit: [newRun("r1", { key: "k" })] });
    expect(await fire(store, { submit: [newRun("r2", { key: "k" }), newRun("r3", { key: "l" })] })).toEqual([
      { id: "r1", created: false },
      { id: "r3", created: true },
    ]);
    expect((await seen(store)).stamp).toBe(2);
  });

  test("that cannot submit has not fired", async () => {
    const { store } = await declared(fresh);
    await fire(store, { submit: [newRun("r1")] });
    const before = await seen(store);
    await expect(fire(store, { nextAt: 1, submit: [newRun("r2"), newRun("r1")] })).rejects.toThrow();
    expect(await seen(store)).toEqual(before);
    expect(await store.task("r2")).toBeUndefined();
  });

  test("that is paused or resumed has another stamp and a history, and begins anew", async () => {
    const { store, clock } = await declared(fresh);
    await fire(store, { nextAt: clock.now() + 10 });
    expect(await store.pauseTrigger(NIGHTLY.name, true, "ann")).toEqual({ was: false });
    expect(await seen(store)).toMatchObject({ paused: true, nextAt: clock.now() + 10, stamp: 2 });
    expect(await store.pauseTrigger(NIGHTLY.name, true, "bob")).toEqual({ was: true });
    clock.advance(60_000);
    expect(await store.pauseTrigger(NIGHTLY.name, false, "bob")).toEqual({ was: true });
    expect(await seen(store)).toMatchObject({ paused: false, nextAt: clock.now(), stamp: 3 });
    expect(await store.events(NIGHTLY.name)).toEqual([
      { subject: NIGHTLY.name, n: 1, kind: "TriggerPaused", at: clock.now() - 60_000, data: '{"by":"ann"}' },
      { subject: NIGHTLY.name, n: 2, kind: "TriggerResumed", at: clock.now(), data: '{"by":"bob"}' },
    ]);
    expect(await store.pauseTrigger("schedule nobody", true, "ann")).toBeUndefined();
  });

  test("that was taken is busy, and nobody else's, until its time is over or it fires", async () => {
    const { store, clock } = await declared(fresh);
    expect(await store.takeTrigger(NIGHTLY.name, 0, 1_000)).toBe(1);
    expect(await seen(store)).toMatchObject({ stamp: 1, busy: true });
    expect(await store.takeTrigger(NIGHTLY.name, 0, 1_000)).toBeUndefined();
    expect(await store.takeTrigger(NIGHTLY.name, 1, 1_000)).toBeUndefined();
    clock.advance(1_000);
    expect((await seen(store)).busy).toBe(false);
    expect(await store.takeTrigger(NIGHTLY.name, 1, 1_000)).toBe(2);
    expect(await fire(store, { stamp: 1 })).toBeUndefined();
    expect(await fire(store, { stamp: 2 })).toEqual([]);
    expect(await seen(store)).toMatchObject({ stamp: 3, busy: false });
    expect(await store.takeTrigger("schedule nobody", 0, 1_000)).toBeUndefined();
  });

  test("that changes while somebody is at it is free again, because that one can write nothing any more", async () => {
    const { store } = await declared(fresh);
    const changes = [
      () => declareTriggers(store, [{ ...NIGHTLY, spec: "{}" }]),
      () => store.pauseTrigger(NIGHTLY.name, true, "ann"),
      () => store.pauseTrigger(NIGHTLY.name, false, "ann"),
    ];
    for (const change of changes) {
      const taken = await store.takeTrigger(NIGHTLY.name, (await seen(store)).stamp, 1_000);
      expect((await seen(store)).busy).toBe(true);
      await change();
      expect((await seen(store)).busy).toBe(false);
      expect(await fire(store, { stamp: taken as number })).toBeUndefined();
    }
  });

  test("that many take at once is taken by one", async () => {
    const { store } = await declared(fresh);
    const taken = await Promise.all([1, 2, 3, 4, 5].map(() => store.takeTrigger(NIGHTLY.name, 0, 1_000)));
    expect(taken.filter((stamp) => stamp !== undefined)).toEqual([1]);
  });

  test("can be asked which of its runs are queued or in progress, and so can a workflow", async () => {
    const { store } = await declared(fresh);
    const none = { queued: false, inProgress: false };
    expect(await store.activeRuns({ source: NIGHTLY.name })).toEqual(none);
    await fire(store, { submit: [newRun("r1"), newRun("r2", { name: "other", source: "code" })] });
    expect(await store.activeRuns({ source: NIGHTLY.name })).toEqual({ queued: true, inProgress: false });
    expect(await store.activeRuns({ workflow: "report" })).toEqual({ queued: true, inProgress: false });
    expect(await store.activeRuns({ workflow: "other" })).toEqual({ queued: true, inProgress: false });
    expect(await store.activeRuns({ workflow: "third" })).toEqual(none);
    await store.cancel("r1", "ann");
    expect(await store.activeRuns({ source: NIGHTLY.name })).toEqual(none);
    expect(await store.activeRuns({ workflow: "report" })).toEqual(none);
    expect(await store.activeRuns({ source: "code" })).toEqual({ queued: true, inProgress: false });
  });

  test("counts a run that comes later as queued, and one that was let in as in progress", async () => {
    const bench = await declared(fresh);
    await bench.session();
    await fire(bench.store, { submit: [newRun("r1", { delayMs: 60_000 }), newRun("r2", { name: "other" })] });
    expect(await bench.store.activeRuns({ workflow: "report" })).toEqual({ queued: true, inProgress: false });
    await bench.claimOne("r2");
    expect(await bench.store.activeRuns({ workflow: "other" })).toEqual({ queued: false, inProgress: true });
    expect(await bench.store.activeRuns({ source: NIGHTLY.name })).toEqual({
      queued: true,
      inProgress: true,
    });
  });

  test("knows of no success before there was one", async () => {
    const { store } = await fresh();
    expect(await store.lastSuccesses(["report"])).toEqual([]);
    expect(await store.lastSuccesses([])).toEqual([]);
  });

  test.skipIf(!succeedDirectly)("can ask for the last success of some workflows", async () => {
    const { store } = await fresh();
    const all = ["a", "b", "c"].map((workflow, index) => ({ workflow, run: `r${index}`, at: 100 + index }));
    for (const success of all) await succeedDirectly?.(store, success);
    expect(await store.lastSuccesses(["c", "a", "nobody"])).toEqual([all[0], all[2]]);
  });
}
