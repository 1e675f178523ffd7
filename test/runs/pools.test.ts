// Pools in runs: slots are taken together or not at all, come back when their holder is gone for longer than
// the pool's own lease, and are never waited for without an end. SQL beside the store and a witness outside
// it count them.

import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/api/open-store.ts";
import type { Duration } from "../../src/core/time.ts";
import type { AppDefinition, Reference, Sluice, Store, WorkerSettings } from "../../src/index.ts";
import { connect, defineApp, task, workflow } from "../../src/index.ts";
import type { Aside } from "../conformance/tables.ts";
import { deferred } from "../e2e/support/deferred.ts";
import type { Place } from "../e2e/support/places.ts";
import { describeOn, storeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { openWitness } from "../support/open-witness.ts";
import { prepareWorkers } from "../support/start-worker.ts";
import { appNamed } from "../support/worker-apps.ts";
import type { Errand } from "./support/apps.ts";

const QUICK: WorkerSettings = { poll: "50ms", pollJitter: "0ms" };

describeOn(["postgres", "mariadb", "sqlite"], (place) => {
  test("fifty steps with one to three slots of one pool or of two fill both to the brim and never pass them", async () => {
    const witness = await openWitness();
    const store = (await place.open()) as string;
    await using sluice = await connect({ store, app: appNamed("weighted"), migrate: true });
    const aside = await beside(place, store);
    const order = { app: "weighted", store, slots: 30, poll: "1s", witnessPort: witness.port } as const;
    const workers = await prepareWorkers(["a", "b"], order);
    await Promise.all(workers.map((worker) => worker.go()));
    const { id } = await sluice.submit("wide", undefined as never);
    // No step leaves yet, so the pools fill as far as the order allows.
    await witness.until(
      (seen) => seen.sum("pool:gpu") === 5 && seen.sum("pool:disk") === 4,
      "both pools are full",
    );
    witness.letGo();
    const peaks = new Map<string, number>();
    await until(
      async () => {
        for (const [pool, held] of await heldOf(aside)) peaks.set(pool, Math.max(held, peaks.get(pool) ?? 0));
        return (await sluice.runs.get(id))?.state === "succeeded";
      },
      "the run has ended",
      45_000,
    );
    expect(Object.fromEntries(peaks)).toEqual({ "pool:gpu": 5, "pool:disk": 4 });
    expect([witness.peak("pool:gpu"), witness.peak("pool:disk")]).toEqual([5, 4]);
    expect(witness.starts).toHaveLength(50);
    expect(await heldOf(aside)).toEqual(new Map());
    for (const worker of workers) expect(await worker.stop()).toBe("code 0");
  });
});

describeOn(["sqlite", "postgres"], (place) => {
  test("slots of a worker that was killed come back when the pool's lease runs out: not with its session's, and not before", async () => {
    const witness = await openWitness();
    const store = (await place.open()) as string;
    await using sluice = await connect({ store, app: appNamed("leased"), migrate: true });
    const order = { app: "leased", store, slots: 2, poll: "500ms", witnessPort: witness.port } as const;
    const [doomed, other] = await prepareWorkers(["doomed", "other"], order);
    const submit = (hold: boolean) =>
      sluice.submit("hold", { counts: { lic: 1 }, hold } satisfies Errand as never);
    const first = await submit(true);
    await doomed?.go();
    await witness.until((seen) => seen.sum("worker:doomed") === 1, "the first one holds the slot");
    const second = await submit(false);
    await other?.go();
    await until(async () => (await sluice.pools.info("lic")).pending === 1, "the second one waits for it");
    // This is longer than its lease, so the lease was renewed.
    await until(async () => (await renewals(sluice, first.id)) >= 3, "the lease was renewed");
    expect(witness.starts).toHaveLength(1);

    await doomed?.kill();
    const [holder] = await sluice.store.holders("pool:lic");
    const since = performance.now();
    const left = holder?.leaseLeftMs as number;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(2_000);
    await witness.until(
      ({ starts }) => starts.some(({ worker }) => worker === "other"),
      "the slot came back",
    );
    const took = performance.now() - since;
    console.log(
      `${place.name}: ${Math.round(left)}ms were left of the lease, the slot was taken after ${Math.round(took)}ms`,
    );
    expect(took).toBeGreaterThanOrEqual(left - 50);
    expect(took).toBeLessThan(5_000);
    expect((await sluice.runs.ended(second.id)).state).toBe("succeeded");
    witness.letGo();
    // The step that died with its worker is tried again.
    expect(await sluice.runs.ended(first.id)).toMatchObject({ state: "succeeded", steps: [{ attempt: 2 }] });
    expect(witness.peak("pool:lic")).toBe(1);
  });
});

describeOn(["memory", "postgres"], (place) => {
  test("a step with four of five slots starts within the bound, however many with one slot keep coming", {
    timeout: 60_000,
  }, async () => {
    const starts: string[] = [];
    const inside: (() => void)[] = [];
    const size = task({
      id: "size",
      run: (name: string) => {
        starts.push(name);
        return name === "large" ? undefined : new Promise<void>((leave) => void inside.push(leave));
      },
    });
    const asking = (id: string, p: number) =>
      workflow({ id, steps: (s, name: Name) => s.step("step", size, name, { pools: { p } }) });
    const [small, large] = [asking("small", 1), asking("large", 4)];
    const sluice = await open(place, {
      tasks: [size],
      workflows: [small, large],
      pools: { p: { limit: 5 } },
      runs: { max: -1 },
    });
    onTestFinished(() => inside.forEach((leave) => void leave()));
    let sent = 0;
    const flow = async (): Promise<void> => {
      while (sent - starts.length < 12) await sluice.execute(small, String(sent++));
    };
    await flow();
    await sluice.worker({ ...QUICK, slots: 20 });
    await until(() => inside.length === 5, "the pool is full");
    const { id } = await sluice.execute(large, "large");
    await until(async () => (await sluice.runs.get(id))?.steps[0]?.unit, "it is in line");
    const behind = sent;
    // One leaves at a time and usually another comes at once, so four slots are never free together by
    // chance.
    while (!starts.includes("large")) {
      await flow();
      const before = starts.length;
      inside.shift()?.();
      await until(() => starts.length > before, "another has started", 400).catch(() => {});
    }
    const overtakes = starts.slice(0, starts.indexOf("large")).filter((name) => Number(name) >= behind);
    console.log(`${place.name}: overtaken ${overtakes.length} times`);
    // One pass admits at most five, and they count together.
    expect(overtakes.length).toBeLessThanOrEqual(100 + 5);
    expect(overtakes.length, "hardly anybody overtook it").toBeGreaterThan(50);
    expect(sent - starts.length, "the stream had run dry").toBeGreaterThan(0);
  });

  test("a step that waited for its pool longer than the claim timeout fails, and says for what", async () => {
    const { sluice, hold, job } = await oneSlot(place, { ...QUICK, claimTimeout: "700ms" });
    const holder = await sluice.submit(job, "holds");
    await hold.taken;
    const waiter = await sluice.submit(job, "waits");
    const { state, steps, error } = await sluice.runs.ended(waiter.id);
    expect({ state, error }).toMatchObject({ state: "failed", error: { code: "STEPS_FAILED" } });
    expect(steps[0]).toMatchObject({
      state: "failed",
      error: {
        code: "CLAIM_TIMEOUT",
        message: expect.stringMatching(/SLUICE_CLAIM_TIMEOUT.*pool "lic" is full: 1 of 1/),
        reasons: [{ kind: "full", gate: "pool:lic", limit: 1, held: 1 }],
      },
    });
    const { enqueuedAt, finishedAt } = steps[0] as { enqueuedAt: number; finishedAt: number };
    expect(finishedAt - enqueuedAt).toBeGreaterThanOrEqual(700);
    expect(finishedAt - enqueuedAt).toBeLessThan(700 + 950);
    // The holder of the slot is not affected.
    hold.release();
    expect((await sluice.runs.ended(holder.id)).state).toBe("succeeded");
  });

  test("the claim timeout stands still while the pool is paused", async () => {
    const { sluice, hold, job } = await oneSlot(place, { ...QUICK, claimTimeout: "700ms" });
    await sluice.pools.set("lic", 0);
    const { id } = await sluice.submit(job, "waits");
    await until(async () => (await sluice.runs.get(id))?.steps[0]?.state === "waiting", "its step waits");
    const since = await sluice.store.now();
    await until(async () => (await sluice.store.now()) - since > 2_100, "three timeouts have gone by");
    expect((await sluice.runs.get(id))?.steps[0]?.state).toBe("waiting");
    await sluice.pools.set("lic", 1);
    await hold.taken;
    hold.release();
    expect((await sluice.runs.ended(id)).state).toBe("succeeded");
  });

  test("the claim timeout goes on where it stood when the pool is no longer paused", async () => {
    const { sluice, hold, job } = await oneSlot(place, { ...QUICK, claimTimeout: "1s" });
    await sluice.submit(job, "holds");
    await hold.taken;
    const { id } = await sluice.submit(job, "waits");
    const step = async () => (await sluice.runs.get(id))?.steps[0];
    await until(async () => (await step())?.state === "waiting", "its step waits");
    await sluice.pools.set("lic", 0);
    const pausedAt = await sluice.store.now();
    await until(
      async () => (await sluice.store.now()) - pausedAt > 1_500,
      "more than the timeout has gone by",
    );
    expect((await step())?.state).toBe("waiting");
    await sluice.pools.set("lic", 1);
    const resumedAt = await sluice.store.now();
    const { steps } = await sluice.runs.ended(id);
    expect(steps[0]).toMatchObject({ state: "failed", error: { code: "CLAIM_TIMEOUT" } });
    const { enqueuedAt, finishedAt } = steps[0] as { enqueuedAt: number; finishedAt: number };
    const paused = resumedAt - pausedAt;
    expect(finishedAt - enqueuedAt - paused).toBeGreaterThanOrEqual(1_000 - 20);
    hold.release();
  });
});

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("what a person set a pool to survives a restart and another declaration, until it is reset", async () => {
    const store = await storeOn(place);
    const declared = async (limit: number, lease: "30s" | "40s") => {
      const app = defineApp({ tasks: [idle], pools: { lic: { limit, lease } } });
      const sluice = await connect({ store, app });
      await sluice.deploy();
      return sluice;
    };
    const shown = async (sluice: Sluice) =>
      (await sluice.pools.list()).map(({ name, limit, leaseMs }) => ({ name, limit, leaseMs }));
    const before = await declared(5, "30s");
    expect(await shown(before)).toEqual([{ name: "lic", limit: 5, leaseMs: 30_000 }]);
    await before.pools.set("lic", 3, { lease: "9s", by: "kim" });
    const again = await declared(5, "30s");
    expect(await shown(again)).toEqual([{ name: "lic", limit: 3, leaseMs: 9_000 }]);
    const redeployed = await declared(8, "40s");
    expect(await shown(redeployed)).toEqual([{ name: "lic", limit: 3, leaseMs: 9_000 }]);
    await redeployed.limits.reset("pool:lic", "kim");
    expect(await shown(redeployed)).toEqual([{ name: "lic", limit: 8, leaseMs: 40_000 }]);
  });
});

describeOn(["postgres"], (place) => {
  test("a live holder keeps its slot for longer than the pool's lease, because it renews it", async () => {
    const { sluice, hold, job } = await oneSlot(place, QUICK, undefined, "2s");
    const first = await sluice.submit(job, "holds");
    await hold.taken;
    const second = await sluice.submit(job, "waits");
    const since = await sluice.store.now();
    const others = new Set<string>();
    await until(async () => {
      for (const { run } of (await sluice.pools.info("lic")).holders) others.add(run as string);
      return (await sluice.store.now()) - since > 7_000;
    }, "seven seconds have gone by");
    expect([...others]).toEqual([first.id]);
    expect((await sluice.runs.get(second.id))?.steps[0]?.state).toBe("waiting");
    // The lease of two seconds is renewed every third of it.
    const times = await renewals(sluice, first.id);
    expect(times).toBeGreaterThanOrEqual(7);
    expect(times).toBeLessThanOrEqual(12);
    hold.release();
    expect(await sluice.runs.ended(first.id)).toMatchObject({ state: "succeeded", steps: [{ attempt: 1 }] });
    expect((await sluice.runs.ended(second.id)).state).toBe("succeeded");
  });
});

describeOn(["postgres", "sqlite"], (place) => {
  test("the claim timeout stands still while nobody has set the pool", async () => {
    const url = (await place.open()) as string;
    const { sluice, hold, job } = await oneSlot(place, { ...QUICK, claimTimeout: "700ms" }, url);
    const aside = await beside(place, url);
    await aside.query("UPDATE sluice_gate SET capacity = NULL, declared = NULL WHERE name = 'pool:lic'");
    const { id } = await sluice.submit(job, "waits");
    await until(async () => (await sluice.runs.get(id))?.steps[0]?.state === "waiting", "its step waits");
    const since = await sluice.store.now();
    await until(async () => (await sluice.store.now()) - since > 2_100, "three timeouts have gone by");
    expect((await sluice.runs.get(id))?.steps[0]?.state).toBe("waiting");
    await sluice.pools.set("lic", 1);
    await hold.taken;
    hold.release();
    expect((await sluice.runs.ended(id)).state).toBe("succeeded");
  });
});

describeOn(["postgres", "mariadb", "sqlite"], (place) => {
  test("without wake-ups a slot is handed over to another worker within one poll", async () => {
    const POLL_MS = 400;
    const url = (await place.open()) as string;
    const at = new Map<string, number>();
    const work = task({ id: "work", run: async (name: string) => void at.set(name, performance.now()) });
    const holding = deferred();
    onTestFinished(() => holding.resolve());
    let held = deferred();
    let go = holding;
    const keep = task({
      id: "keep",
      queue: "kept",
      run: async () => {
        held.resolve();
        await go.promise;
        at.set("released", performance.now());
      },
    });
    const pools = { lic: 1 };
    const keeping = workflow({ id: "keeping", steps: (s) => s.step("keep", keep, undefined, { pools }) });
    const taking = workflow({
      id: "taking",
      steps: (s, name: Name) => s.step("take", work, name, { pools }),
    });
    const app = defineApp({
      tasks: [work, keep],
      workflows: [keeping, taking],
      queues: { default: {}, kept: {} },
      pools: { lic: { limit: 1 } },
    });
    const deaf = async (queue: string): Promise<Sluice> => {
      const sluice = await connect({ store: withoutWakeUps(await openStore(url, { migrate: true })), app });
      onTestFinished(() => sluice.close({ graceMs: 1_000 }));
      await sluice.worker({ poll: `${POLL_MS}ms`, pollJitter: "0ms", queues: [queue] });
      return sluice;
    };
    const keeper = await deaf("kept");
    const taker = await deaf("default");
    const took: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      held = deferred();
      go = deferred();
      await keeper.submit(keeping, undefined);
      await held.promise;
      const name = `taker ${round}`;
      const { id } = await taker.submit(taking, name);
      await until(
        async () => (await taker.runs.get(id))?.steps[0]?.state === "waiting",
        "the taker is in line",
      );
      // Each round uses another moment between two polls.
      const since = performance.now();
      await until(() => performance.now() - since >= (round * POLL_MS) / 5, "some of the poll has gone by");
      go.resolve();
      await until(() => at.has(name), "the taker has the slot");
      took.push((at.get(name) as number) - (at.get("released") as number));
      await taker.runs.ended(id);
    }
    console.log(`${place.name}: handed over after ${took.map((ms) => `${Math.round(ms)}ms`).join(", ")}`);
    // The margin is for the work itself. If every hand-over were quick, something must have woken the taker.
    expect(Math.max(...took)).toBeLessThan(POLL_MS + 400);
    expect(Math.max(...took)).toBeGreaterThan(40);
  });
});

type Name = Reference<string>;

const idle = task({ id: "idle", run: async () => {} });

async function open(place: Place, definition: AppDefinition, url?: string): Promise<Sluice> {
  const store = url === undefined ? await storeOn(place) : url;
  const sluice = await connect({ store, app: defineApp(definition), migrate: true });
  await sluice.deploy();
  onTestFinished(() => sluice.close({ graceMs: 1_000 }));
  return sluice;
}

/**
 * A workflow whose one step needs the only slot of a pool. The first holder keeps it until it is released.
 */
async function oneSlot(place: Place, settings: WorkerSettings, url?: string, lease: Duration = "5m") {
  const [taken, released] = [deferred(), deferred()];
  const work = task({
    id: "work",
    run: async (_name: string) => {
      taken.resolve();
      await released.promise;
    },
  });
  const job = workflow({
    id: "job",
    steps: (s, name: Name) => s.step("work", work, name, { pools: { lic: 1 } }),
  });
  const sluice = await open(
    place,
    { tasks: [work], workflows: [job], pools: { lic: { limit: 1, lease } } },
    url,
  );
  onTestFinished(() => released.resolve());
  await sluice.worker(settings);
  return { sluice, job, hold: { taken: taken.promise, release: () => released.resolve() } };
}

function withoutWakeUps(store: Store): Store {
  return new Proxy(store, {
    get: (target, verb: keyof Store) => {
      if (verb === "hint") return () => {};
      if (verb === "listen") return async () => async () => {};
      const own = target[verb];
      return typeof own === "function" ? own.bind(target) : own;
    },
  });
}

/** The slots held per pool, read with one statement. */
async function heldOf(aside: Aside): Promise<Map<string, number>> {
  const rows = await aside.query(
    "SELECT t.asks FROM sluice_running r JOIN sluice_task t ON t.id = r.id WHERE r.held = 1",
  );
  const held = new Map<string, number>();
  for (const row of rows)
    for (const [gate, slots] of JSON.parse(row.asks as string) as [string, number][])
      if (gate.startsWith("pool:")) held.set(gate, (held.get(gate) ?? 0) + slots);
  return held;
}

async function renewals(sluice: Sluice, run: string): Promise<number> {
  const events = await sluice.runs.events(run);
  return events.filter(({ kind }) => kind === "StepSlotRenewed").length;
}

async function beside(place: Place, url: string): Promise<Aside> {
  const aside = await place.beside(url);
  onTestFinished(() => aside.close());
  return aside;
}
