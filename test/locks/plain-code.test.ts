// What a lock promises to plain code, the same on every store.

import { describe, expect, expectTypeOf, onTestFinished, test } from "vitest";
import type { LockHandle, Mutex, Permit, Sluice } from "../../src/index.ts";
import { defineApp, task } from "../../src/index.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { clientsOf } from "./support/clients.ts";

const KEY = "mutex:default/door";

/** The IDs of requests that wait, in no order. */
const waiting = async ({ store }: Sluice): Promise<number> =>
  (await store.waiting()).reduce((sum, { units }) => sum + units, 0);

const untilWaiting = (sluice: Sluice, units: number): Promise<unknown> =>
  until(async () => (await waiting(sluice)) === units, `${units} requests wait`);

const holders = async ({ store }: Sluice, key = KEY): Promise<string[]> =>
  (await store.holders(key)).map(({ id }) => id);

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  const open = async (): Promise<Sluice> => (await clientsOf(place))();

  test("one holder at a time, in the order of asking, with growing fences", async () => {
    const sluice = await open();
    const mutex = sluice.mutex("door");
    const first = await mutex.acquire();
    const order: [number, number][] = [];
    const using = async (n: number): Promise<void> => {
      await using permit = await mutex.acquire();
      order.push([n, permit.fence]);
      expect(await holders(sluice)).toEqual([permit.id]);
    };
    const others: Promise<void>[] = [];
    for (const n of [1, 2, 3]) {
      others.push(using(n));
      await untilWaiting(sluice, n);
    }
    expect(order).toEqual([]);
    await first.release();
    await Promise.all(others);
    expect(order.map(([n]) => n)).toEqual([1, 2, 3]);
    const fences = [first.fence, ...order.map(([, fence]) => fence)];
    expect([...new Set(fences)].sort((a, b) => a - b)).toEqual(fences);
    expect(await holders(sluice)).toEqual([]);
  });

  test("two clients stand in one line, and a higher priority comes first", async () => {
    const another = await clientsOf(place);
    const [one, two] = [await another(), await another()];
    const held = await one.mutex("door").acquire();
    const order: string[] = [];
    const asking = async (sluice: Sluice, name: string, priority: number): Promise<void> => {
      await using permit = await sluice.mutex("door").acquire({ priority });
      order.push(name);
      expect(permit.signal.aborted).toBe(false);
    };
    const low = asking(one, "low", 0);
    await untilWaiting(one, 1);
    const later = asking(two, "later", 0);
    await untilWaiting(one, 2);
    const high = asking(two, "high", 5);
    await untilWaiting(one, 3);
    // By now its process has asked the store once more, so the request has its place in line.
    expect(await two.mutex("door").tryAcquire()).toBeUndefined();
    await held.release();
    await Promise.all([low, later, high]);
    expect(order).toEqual(["high", "low", "later"]);
  });

  test("tryAcquire takes a free lock, and never waits", async () => {
    const another = await clientsOf(place);
    const [one, two] = [await another(), await another()];
    const permit = await one.mutex("door").tryAcquire();
    expect(permit).toBeDefined();
    expect(await two.mutex("door").tryAcquire()).toBeUndefined();
    expect(await one.mutex("door").tryAcquire()).toBeUndefined();
    expect(await waiting(one)).toBe(0);
    await permit?.release();
    await using next = await two.mutex("door").tryAcquire();
    expect(next?.fence).toBeGreaterThan(permit?.fence as number);
    expect(await two.semaphore("unset").tryAcquire()).toBeUndefined();
  });

  test("tryAcquire does not overtake a request that waits", async () => {
    const sluice = await open();
    await sluice.pools.set("seats", 3);
    const held = await sluice.pool("seats").acquire({ slots: 2 });
    await sluice.limits.set("semaphore:default/seats", 3, "test", { isNew: true });
    const strict = sluice.semaphore("seats");
    const first = await strict.acquire({ slots: 2 });
    const large = strict.acquire({ slots: 3 });
    await untilWaiting(sluice, 1);
    expect(await strict.tryAcquire()).toBeUndefined();
    await first.release();
    await (await large).release();
    await held.release();
  });

  test("a wait ends with its signal, with its timeout, and leaves the line", async () => {
    const sluice = await open();
    const mutex = sluice.mutex("door");
    const held = await mutex.acquire();
    const abort = new AbortController();
    const aborted = mutex.acquire({ signal: abort.signal });
    const late = mutex.acquire({ timeout: "50ms" });
    await expect(late).rejects.toMatchObject({ code: "LOCK_TIMEOUT" });
    await untilWaiting(sluice, 1);
    abort.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    await untilWaiting(sluice, 0);
    await expect(mutex.acquire({ signal: AbortSignal.abort(new Error("before")) })).rejects.toThrow("before");
    expect(held.signal.aborted).toBe(false);
    await held.release();
    await (await mutex.acquire()).release();
  });

  test("an abort at the moment of the grant gives either a permit or an error, and the lock goes on", async () => {
    const sluice = await open();
    const mutex = sluice.mutex("door");
    for (let round = 0; round < 15; round += 1) {
      const held = await mutex.acquire();
      const abort = new AbortController();
      const next = mutex.acquire({ signal: abort.signal, timeout: "30s" });
      await untilWaiting(sluice, 1);
      const releasing = held.release();
      if (round % 3 > 0) await Promise.resolve();
      if (round % 3 > 1) await releasing;
      abort.abort(new Error("now"));
      const permit = await next.catch((error: Error) => error.message);
      if (permit === "now") continue;
      expect((permit as Permit).signal.aborted).toBe(false);
      await (permit as Permit).release();
    }
    await using last = await mutex.acquire();
    expect(await holders(sluice)).toEqual([last.id]);
    expect(await waiting(sluice)).toBe(0);
  });

  test("a second release and a release after a loss change nothing", async () => {
    const another = await clientsOf(place, { locks: { lease: "600ms" } });
    const [one, two] = [await another(), await another()];
    const lost = await one.mutex("door").acquire();
    const next = two.mutex("door").acquire();
    await untilWaiting(two, 1);
    const [holder] = await two.store.holders(KEY);
    await two.store.closeSession(holder?.session ?? "");
    const taken = await next;
    expect(taken.fence).toBeGreaterThan(lost.fence);
    await until(() => lost.signal.aborted, "its holder hears of the loss");
    expect(lost.signal.reason).toMatchObject({ code: "LOCK_LOST" });
    await lost.release();
    await lost.release();
    expect(await holders(two)).toEqual([taken.id]);
    await taken.release();
    await taken.release();
    await using again = await one.mutex("door").acquire();
    expect(again.fence).toBeGreaterThan(taken.fence);
  });

  test("a lock is held for much longer than its lease", async () => {
    const another = await clientsOf(place, { locks: { lease: "2s" } });
    const [one, two] = [await another(), await another()];
    const held = await one.mutex("door").acquire();
    const next = two.mutex("door").acquire({ timeout: "3s" });
    await expect(next).rejects.toMatchObject({ code: "LOCK_TIMEOUT" });
    expect(held.signal.aborted).toBe(false);
    await held.release();
  });

  test("a waiter whose place was swept goes in line again", async () => {
    const another = await clientsOf(place);
    const [one, two] = [await another(), await another()];
    const held = await one.mutex("door").acquire();
    const next = two.mutex("door").acquire();
    await untilWaiting(one, 1);
    const [lane] = await one.store.waiting();
    const id = await idsInLine(one, lane?.task ?? "");
    expect(await one.store.withdraw(id)).toEqual(id);
    await untilWaiting(one, 1);
    await held.release();
    await (await next).release();
  });

  test("a person cancels a request that waits, and tells a holder to stop", async () => {
    const sluice = await open();
    const mutex = sluice.mutex("door");
    const held = await mutex.acquire();
    const next = mutex.acquire();
    const refused = expect(next).rejects.toMatchObject({ code: "CANCELLED" });
    await untilWaiting(sluice, 1);
    const [waits] = await idsInLine(sluice, (await sluice.store.waiting())[0]?.task ?? "");
    await sluice.cancel(waits as string, "anna");
    await refused;
    await sluice.cancel(held.id, "anna");
    await until(() => held.signal.aborted, "the holder is told");
    expect(held.signal.reason).toMatchObject({ code: "LOCK_LOST" });
    expect(await mutex.tryAcquire()).toBeUndefined();
    await held.release();
    await (await mutex.acquire()).release();
  });

  test("the same holder shares one permit", async () => {
    const sluice = await open();
    const mutex = sluice.mutex("door");
    const outer = await mutex.acquire({ holder: "import 7" });
    const inner = await mutex.acquire({ holder: "import 7" });
    expect([inner.id, inner.fence]).toEqual([outer.id, outer.fence]);
    expect(await mutex.tryAcquire({ holder: "import 8" })).toBeUndefined();
    await outer.release();
    expect(await holders(sluice)).toEqual([inner.id]);
    expect(await mutex.tryAcquire({ holder: "import 8" })).toBeUndefined();
    await inner.release();
    await using other = await mutex.acquire({ holder: "import 8" });
    expect(other.fence).toBeGreaterThan(inner.fence);
  });

  test("namespaces are apart, and so are mutexes, semaphores and pools of one name", async () => {
    const sluice = await open();
    await sluice.limits.set("semaphore:default/door", 1, "test", { isNew: true });
    await sluice.pools.set("door", 1);
    await using _a = await sluice.mutex("door").acquire();
    await using _b = await sluice.mutex("door", { namespace: "global" }).acquire();
    await using _c = await sluice.semaphore("door").acquire();
    await using _d = await sluice.pool("door").acquire();
    expect(await holders(sluice, "mutex:global/door")).toHaveLength(1);
  });

  test("a lock stands in the same line as tasks that name it", async () => {
    const seen: string[] = [];
    const paint = task({ id: "paint", pools: { door: 1 }, run: () => void seen.push("paint") });
    const another = await clientsOf(place, {
      app: defineApp({ tasks: [paint], pools: { door: { limit: 1 } } }),
    });
    const [one, two] = [await another(), await another()];
    await one.worker();
    const held = await two.pool("door").acquire({ holder: "carpenter" });
    const { id } = await one.enqueue(paint, undefined);
    await untilWaiting(one, 1);
    const next = two
      .pool("door")
      .acquire()
      .then(async (permit) => {
        seen.push("code");
        await permit.release();
      });
    await untilWaiting(one, 2);
    const { sentences } = await one.explain(id);
    expect(sentences.map(({ text }) => text).join()).toContain("carpenter");
    expect(seen).toEqual([]);
    await held.release();
    await Promise.all([one.ended(id), next]);
    expect(seen).toEqual(["paint", "code"]);
  });

  test("a request that waits has reasons, and no trace among the tasks", async () => {
    const sluice = await open();
    const mutex = sluice.mutex("door");
    const held = await mutex.acquire({ holder: "carpenter" });
    const next = mutex.acquire({ holder: "painter" });
    await untilWaiting(sluice, 1);
    const [id] = await idsInLine(sluice, (await sluice.store.waiting())[0]?.task ?? "");
    const { reasons, sentences, name } = await sluice.explain(id as string);
    expect(name).toBe("painter");
    expect(reasons).toMatchObject([
      { kind: "full", gate: KEY, limit: 1, held: 1, holders: [{ unit: held.id, name: "carpenter" }] },
    ]);
    expect(sentences[0]?.text).toContain("carpenter");
    expect([await sluice.list(), await sluice.queues.list(), await sluice.workers()]).toEqual([[], [], []]);
    await held.release();
    await (await next).release();
    expect(await sluice.get(held.id)).toBeUndefined();
  });

  test("a client that closes refuses its waiters, tells its holders, and leaves nothing", async () => {
    const another = await clientsOf(place);
    const [one, two] = [await another(), await another()];
    const held = await one.mutex("door").acquire();
    const next = one.mutex("door").acquire();
    const refused = expect(next).rejects.toMatchObject({ code: "CLOSED" });
    await untilWaiting(two, 1);
    await one.close();
    await refused;
    expect(held.signal.reason).toMatchObject({ code: "CLOSED" });
    await held.release();
    expect([await waiting(two), await holders(two)]).toEqual([0, []]);
    await (await two.mutex("door").acquire()).release();
    await expect(one.mutex("door").acquire()).rejects.toMatchObject({ code: "CLOSED" });
  });
});

/** The IDs of units in line with this task name, in order. */
async function idsInLine({ store }: Sluice, task: string): Promise<string[]> {
  const { heads, lanes } = await store.line("@locks", 100);
  const named = new Set(lanes.flatMap((lane) => (lane.task === task ? [lane.id] : [])));
  return heads.filter(({ lane }) => named.has(lane)).map(({ id }) => id);
}

describe("a call", () => {
  test("is refused if it can never succeed or says something unknown", async () => {
    const { openMemory } = await import("../../src/store/memory/index.ts");
    const { connect } = await import("../../src/index.ts");
    const sluice = await connect({ store: openMemory() });
    onTestFinished(() => sluice.close());
    await sluice.pools.set("seats", 2);
    const code = (made: () => unknown): Promise<unknown> =>
      Promise.resolve()
        .then(made)
        .then(
          () => "no error",
          (error: { code: string }) => error.code,
        );
    expect(await code(() => sluice.pool("seats").acquire({ slots: 3 }))).toBe("ASKS_TOO_MUCH");
    expect(await code(() => sluice.pool("seats").acquire({ slots: 0 }))).toBe("BAD_SLOTS");
    expect(await code(() => sluice.pool("seats=*").acquire())).toBe("BAD_GATE");
    expect(await code(() => sluice.mutex("a*"))).toBe("BAD_LOCK");
    expect(await code(() => sluice.mutex("a", { namespace: "b/c" }))).toBe("BAD_LOCK");
    expect(await code(() => sluice.semaphore("a/b/c"))).toBe("BAD_LOCK");
    expect(await code(() => sluice.mutex("a").acquire({ slots: 1 } as never))).toBe("BAD_OPTIONS");
    expect(await code(() => sluice.mutex("a").acquire({ priority: 0.5 }))).toBe("BAD_PRIORITY");
    expect(await code(() => sluice.mutex("a").acquire({ timeout: "soon" as never }))).toBe("BAD_DURATION");
    expect(await code(() => sluice.mutex("a").acquire({ holder: "" }))).toBe("BAD_TEXT");
    expect(await code(() => connect({ store: openMemory(), locks: { lease: "100ms" } }))).toBe("BAD_LEASE");
  });

  test("has the types that people expect", () => {
    expectTypeOf<Awaited<ReturnType<Mutex["acquire"]>>>().toEqualTypeOf<Permit>();
    expectTypeOf<Awaited<ReturnType<LockHandle["tryAcquire"]>>>().toEqualTypeOf<Permit | undefined>();
    expectTypeOf<Permit>().toExtend<AsyncDisposable>();
    expectTypeOf<Parameters<LockHandle["acquire"]>[0]>().toExtend<{ slots?: number } | undefined>();
  });
});
