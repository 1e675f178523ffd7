// Slots follow the code, not the record. A cancelled or timed-out task has its outcome at once, but a unit
// that waits for its slots starts when its code has ended: no sooner, and without delay.

import { expect, onTestFinished, test } from "vitest";
import type { AppDefinition, Reference, Sluice, WorkerSettings } from "../../src/index.ts";
import { connect, defineApp, task, workflow } from "../../src/index.ts";
import { working } from "../runs/support/world.ts";
import { openWitness } from "../support/open-witness.ts";
import { prepareWorkers } from "../support/start-worker.ts";
import { appNamed } from "../support/worker-apps.ts";
import type { Deferred } from "./support/deferred.ts";
import { deferred } from "./support/deferred.ts";
import type { Place } from "./support/places.ts";
import { describeOn, storeOn } from "./support/places.ts";
import { until } from "./support/until.ts";

const QUICK = { poll: "50ms", pollJitter: "0ms", slots: 8 } as const;

/** Code that notes the abort signal in `log` but keeps running until it is let go. */
class Deaf {
  /** "+a" as it begins, "!a" when it is told to stop, "-a" as it ends. */
  readonly log: string[] = [];
  #inside = 0;
  /** The most runs at once. */
  peak = 0;
  readonly #holds = new Map<string, Deferred<void>>();

  constructor() {
    onTestFinished(() => {
      for (const hold of this.#holds.values()) hold.resolve();
    });
  }

  readonly run = async (name: string, { signal }: { readonly signal: AbortSignal }): Promise<string> => {
    this.log.push(`+${name}`);
    this.#inside += 1;
    this.peak = Math.max(this.peak, this.#inside);
    signal.addEventListener("abort", () => this.log.push(`!${name}`));
    await this.#holdOf(name).promise;
    this.#inside -= 1;
    this.log.push(`-${name}`);
    return name;
  };

  #holdOf(name: string): Deferred<void> {
    const hold = this.#holds.get(name) ?? deferred();
    this.#holds.set(name, hold);
    return hold;
  }

  /** Lets `name` end, now and in later attempts. */
  letGo(name: string): void {
    this.#holdOf(name).resolve();
  }

  said(word: string): Promise<unknown> {
    return until(() => this.log.includes(word), `${word}, after ${this.log}`);
  }
}

/** An app with a deaf task that asks for the one slot of a pool, and another task that asks for nothing. */
async function deafOn(
  place: Place,
  options: Omit<AppDefinition, "tasks"> & { readonly timeout?: string; readonly attempts?: number } = {},
  settings: WorkerSettings = {},
) {
  const { timeout, attempts, ...definition } = options;
  const code = new Deaf();
  const deaf = task({
    id: "deaf",
    pools: { one: 1 },
    ...(timeout ? { timeout } : {}),
    ...(attempts ? { retry: { attempts, delay: "0ms" } } : {}),
    run: code.run,
  });
  const other = task({ id: "other", run: async () => "done" });
  const app = { pools: { one: { limit: 1 } }, ...definition, tasks: [deaf, other] };
  const sluice = await working(place, app, { ...QUICK, ...settings });
  /** Waits until passes have happened: a later task that needs none of their slots has ended. */
  const passed = async (): Promise<void> => {
    const { id } = await sluice.enqueue(other, undefined);
    await sluice.ended(id);
  };
  const begin = async (name: string) => (await sluice.enqueue(deaf, name)).id;
  return { sluice, code, deaf, other, passed, begin };
}

const useOf = async (sluice: Sluice, gate: string): Promise<string> => {
  const found = (await sluice.limits.list()).find(({ key }) => key === gate);
  return `${found?.held}/${found?.limit}, ${found?.stopping.length} stopping`;
};

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("a pool of 1 whose holder is cancelled and deaf runs its successor when that has ended, and at once then", async () => {
    const { sluice, code, passed, begin } = await deafOn(place);
    const a = await begin("a");
    await code.said("+a");
    const b = await begin("b");
    expect(await sluice.cancel(a)).toEqual({ was: "running" });
    expect(await sluice.get(a)).toMatchObject({ state: "cancelled" });
    await code.said("!a");
    await passed();
    expect(code.log).toEqual(["+a", "!a"]);
    expect(await useOf(sluice, "pool:one")).toBe("1/1, 1 stopping");
    const { reasons, sentences } = await sluice.explain(b);
    expect(reasons).toMatchObject([
      { kind: "full", gate: "pool:one", holders: [{ unit: a, stopping: { because: "cancelled" } }] },
    ]);
    expect(sentences[0]?.text).toMatch(/\(by \w+ deaf, stopping for .* \(cancelled\)\)$/);
    expect(await sluice.stopping(a)).toMatchObject([{ kind: "task", unit: a, because: "cancelled" }]);
    code.letGo("a");
    await code.said("+b");
    code.letGo("b");
    expect(await sluice.ended(b)).toMatchObject({ state: "succeeded" });
    expect([code.peak, code.log]).toEqual([1, ["+a", "!a", "-a", "+b", "-b"]]);
    expect(await sluice.get(a)).toMatchObject({ state: "cancelled" });
    expect(await sluice.stopping()).toEqual([]);
  });

  test("so it is with one that is over its time", async () => {
    const { sluice, code, passed, begin } = await deafOn(place, { timeout: "60ms" });
    const a = await begin("a");
    await code.said("+a");
    const b = await begin("b");
    expect(await sluice.ended(a)).toMatchObject({ state: "failed", error: { code: "TIMEOUT" } });
    await passed();
    expect(code.log).toEqual(["+a", "!a"]);
    expect(await sluice.stopping()).toMatchObject([{ unit: a, because: "timeout" }]);
    code.letGo("b");
    code.letGo("a");
    expect(await sluice.ended(b)).toMatchObject({ state: "succeeded" });
    expect(code.peak).toBe(1);
  });

  test("its own next attempt waits for the code of the one before", async () => {
    const { sluice, code, passed, begin } = await deafOn(place, { timeout: "60ms", attempts: 2 });
    const a = await begin("a");
    await code.said("!a");
    await until(async () => (await sluice.get(a))?.state === "waiting", "its second attempt is in line");
    await passed();
    expect([code.log, (await sluice.get(a))?.attempt]).toEqual([["+a", "!a"], 1]);
    code.letGo("a");
    expect(await sluice.ended(a)).toMatchObject({ state: "succeeded", attempt: 2 });
    expect([code.peak, code.log]).toEqual([1, ["+a", "!a", "-a", "+a", "-a"]]);
  });

  test("a task that is put back in line while its old code stops runs beside it where there is room, and each frees its own slot", async () => {
    const { sluice, code, passed, begin } = await deafOn(place, { pools: { one: { limit: 2 } } });
    const a = await begin("a");
    await code.said("+a");
    await sluice.cancel(a);
    await code.said("!a");
    await sluice.retry(a);
    await until(() => code.log.filter((word) => word === "+a").length === 2, "it runs again");
    expect(await useOf(sluice, "pool:one")).toBe("2/2, 1 stopping");
    const b = await begin("b");
    await passed();
    expect(code.log).toEqual(["+a", "!a", "+a"]);
    code.letGo("a");
    expect(await sluice.ended(a)).toMatchObject({ state: "succeeded" });
    code.letGo("b");
    expect(await sluice.ended(b)).toMatchObject({ state: "succeeded" });
    expect(code.peak).toBe(2);
    await until(async () => (await useOf(sluice, "pool:one")) === "0/2, 0 stopping", "all slots are free");
  });

  test("code that stops uses its worker's slot: a worker with one slot begins nothing else", async () => {
    const { sluice, code, other, begin } = await deafOn(place, {}, { slots: 1 });
    const a = await begin("a");
    await code.said("+a");
    await sluice.cancel(a);
    await code.said("!a");
    const { id } = await sluice.enqueue(other, undefined);
    await until(
      async () => (await sluice.explain(id)).reasons.some(({ kind }) => kind === "busy"),
      "every worker is busy",
    );
    code.letGo("a");
    expect(await sluice.ended(id)).toMatchObject({ state: "succeeded" });
  });

  test("a worker that stops waits for code that stops, as for all that runs", async () => {
    const code = new Deaf();
    const deaf = task({ id: "deaf", run: code.run });
    const sluice = await connect({ store: await storeOn(place), app: defineApp({ tasks: [deaf] }) });
    const worker = await sluice.worker(QUICK);
    const { id } = await sluice.enqueue(deaf, "a");
    await code.said("+a");
    await sluice.cancel(id);
    await code.said("!a");
    let isOver = false;
    const stop = worker.stop({ graceMs: 30_000 }).then(() => {
      isOver = true;
    });
    expect([worker.running, isOver]).toEqual([1, false]);
    code.letGo("a");
    await stop;
    expect(await sluice.stopping()).toEqual([]);
  });

  test("a cancelled run with a mutex and a run cap of 1 lets the next run in when its deaf step has ended, and at once then", async () => {
    const code = new Deaf();
    const deaf = task({ id: "deaf", run: code.run });
    const other = task({ id: "other", run: async () => "done" });
    const flow = workflow({
      id: "flow",
      mutexes: ["books"],
      steps: (s, input: Reference<{ name: string }>) => s.step("only", deaf, input.name),
    });
    const app = { tasks: [deaf, other], workflows: [flow], runs: { max: 1 } };
    const sluice = await working(place, app, { ...QUICK, poll: "20s" });
    const a = (await sluice.submit(flow, { name: "a" })).id;
    await code.said("+a");
    const b = (await sluice.submit(flow, { name: "b" })).id;
    await sluice.runs.cancel(a);
    expect(await sluice.runs.get(a)).toMatchObject({ state: "cancelled" });
    await code.said("!a");
    await sluice.ended((await sluice.enqueue(other, undefined)).id);
    expect(await sluice.runs.get(b)).toMatchObject({ state: "queued" });
    for (const gate of ["runs", "mutex:default/books"])
      expect(await useOf(sluice, gate)).toBe("1/1, 1 stopping");
    expect(await sluice.stopping(a)).toMatchObject([
      { kind: "run", unit: a, because: "cancelled" },
      { kind: "task", run: a, step: "only", because: "cancelled" },
    ]);
    code.letGo("b");
    code.letGo("a");
    expect(await sluice.runs.ended(b)).toMatchObject({ state: "succeeded" });
    expect([code.peak, code.log]).toEqual([1, ["+a", "!a", "-a", "+b", "-b"]]);
    expect(await sluice.stopping()).toEqual([]);
  });

  test("an item that is cancelled holds its place in the window until its code has ended", async () => {
    const code = new Deaf();
    const deaf = task({ id: "deaf", run: code.run });
    const other = task({ id: "other", run: async () => "done" });
    const list = workflow({
      id: "list",
      steps: (s) => s.each("items", ["a", "b", "c"], deaf, { concurrency: 2, onFailure: "run-all" }),
    });
    const sluice = await working(place, { tasks: [deaf, other], workflows: [list] }, QUICK);
    const { id } = await sluice.submit(list, undefined);
    await code.said("+a");
    await code.said("+b");
    const [first] = await sluice.store.items(id, "items", { after: -1, limit: 1 });
    await sluice.cancel(first?.unit as string);
    await code.said("!a");
    await sluice.ended((await sluice.enqueue(other, undefined)).id);
    expect(code.log).toEqual(["+a", "+b", "!a"]);
    expect(await useOf(sluice, `run:${id}/items/items`)).toBe("2/2, 1 stopping");
    code.letGo("a");
    await code.said("+c");
    code.letGo("b");
    code.letGo("c");
    expect(await sluice.runs.ended(id)).toMatchObject({ state: "failed" });
    expect(code.peak).toBe(2);
  });
});

describeOn(["postgres", "mariadb", "sqlite"], (place) => {
  /** Two worker processes, a queue with one slot, and a witness that counts the code actually running. */
  async function twoProcesses() {
    const witness = await openWitness();
    const store = (await place.open()) as string;
    const sluice = await connect({ store, app: appNamed("single"), migrate: true });
    onTestFinished(() => sluice.close());
    const order = { app: "single", store, slots: 2, poll: "100ms", witnessPort: witness.port } as const;
    const workers = await prepareWorkers(["one", "two"], order);
    await Promise.all(workers.map((worker) => worker.go()));
    const first = (await sluice.enqueue("narrow", { hold: true })).id;
    await witness.until((seen) => seen.startsOf(first).length === 1, "the first is inside");
    const next = (await sluice.enqueue("narrow", {})).id;
    const { worker } = witness.startsOf(first)[0] ?? {};
    const holder = workers.find(({ name }) => name === worker);
    const isDone = (id: string): Promise<unknown> =>
      until(async () => (await sluice.get(id))?.state === "succeeded", `${id} is done`, 30_000);
    return { witness, sluice, workers, first, next, holder, isDone };
  }

  test("a slot that is cancelled in one process is taken in the other when the code has ended, and the limit is never passed", {
    timeout: 60_000,
  }, async () => {
    const { witness, sluice, workers, first, next, isDone } = await twoProcesses();
    await sluice.cancel(first);
    expect(await sluice.get(first)).toMatchObject({ state: "cancelled" });
    // These are as many as both workers have slots for, so each worker has made passes since.
    const others = await sluice.enqueueMany(
      Array.from({ length: 6 }, () => ({ task: "wide" as never, input: {} })),
    );
    for (const { id } of others) await isDone(id);
    expect([witness.sum("queue:narrow"), witness.startsOf(next)]).toEqual([1, []]);
    expect(await useOf(sluice, "queue:narrow")).toBe("1/1, 1 stopping");
    witness.letGo();
    await isDone(next);
    expect(witness.peak("queue:narrow")).toBe(1);
    expect(await Promise.all(workers.map((worker) => worker.stop()))).toEqual(["code 0", "code 0"]);
  });

  test("a worker that is killed while its code stops gives its slot back with its lease", {
    timeout: 60_000,
  }, async () => {
    const { witness, sluice, first, next, holder, isDone } = await twoProcesses();
    await sluice.cancel(first);
    expect(await useOf(sluice, "queue:narrow")).toBe("1/1, 1 stopping");
    await holder?.kill();
    await isDone(next);
    expect([witness.peak("queue:narrow"), await sluice.stopping()]).toEqual([1, []]);
  });
});
