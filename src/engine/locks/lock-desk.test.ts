import { beforeEach, describe, expect, test } from "vitest";
import { openMemory } from "../../store/memory/index.ts";
import type { Store } from "../../store/store.ts";
import { FakeEnv } from "../../testing/fake-env.ts";
import type { Asking } from "./lock-desk.ts";
import { LockDesk } from "./lock-desk.ts";

const LEASE_MS = 15_000;

const asking = (name: string, more: Partial<Asking> = {}): Asking => ({
  gate: `mutex:default/${name}`,
  slots: 1,
  priority: 0,
  label: "me",
  holder: undefined,
  signal: undefined,
  timeoutMs: undefined,
  ...more,
});

let env: FakeEnv;
let store: Store;
let calls: Map<string, number>;

/** Counts the calls of each verb. */
const counted = (of: Store): Store =>
  new Proxy(of, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...given: unknown[]) => {
        calls.set(String(name), (calls.get(String(name)) ?? 0) + 1);
        return value.apply(target, given);
      };
    },
  });

const called = (verb: string): number => calls.get(verb) ?? 0;

beforeEach(() => {
  env = new FakeEnv();
  calls = new Map();
  store = counted(openMemory({ now: () => env.clock.now() }));
});

const desk = (): LockDesk => new LockDesk(store, env, { leaseMs: LEASE_MS });

/** What a promise has come to, without waiting for it. */
async function now<T>(promise: Promise<T>): Promise<T | "open"> {
  await env.settle();
  await env.settle();
  return Promise.race([promise, Promise.resolve("open" as const)]);
}

const taken = async (from: LockDesk, name: string): ReturnType<LockDesk["acquire"]> => {
  const permit = from.acquire(asking(name));
  for (let turn = 0; turn < 100 && (await now(permit)) === "open"; turn += 1) await env.advance(50);
  return permit;
};

describe("a desk", () => {
  test("is nothing to the store until the first request, and nothing a while after the last", async () => {
    const one = desk();
    await env.advance(60_000);
    expect(calls.size).toBe(0);
    const permit = await taken(one, "door");
    await env.settle();
    await permit.release();
    await env.advance(30_000);
    calls.clear();
    await env.advance(60_000);
    expect(calls.size).toBe(0);
    expect((await store.gates()).filter(({ key }) => key.startsWith("mutex:"))).toEqual([]);
    await (await taken(one, "door")).release();
    await one.close();
  });

  test("renews what it holds, for as long as that takes", async () => {
    const one = desk();
    const permit = await taken(one, "door");
    await env.advance(20 * LEASE_MS);
    expect(permit.signal.aborted).toBe(false);
    await permit.release();
    await one.close();
  });

  test("frozen for longer than its lease has lost its locks, and says so before anything else", async () => {
    const [one, two] = [desk(), desk()];
    const permit = await taken(one, "door");
    env.freeze(LEASE_MS + 1);
    env.thaw();
    expect(permit.signal.reason).toMatchObject({ code: "LOCK_LOST" });
    await permit.release();
    await env.advance(2_000);
    const next = await taken(two, "door");
    expect(next.fence).toBeGreaterThan(permit.fence);
    await next.release();
    await Promise.all([one.close(), two.close()]);
  });

  test("that waits makes no pass but that of its poll, and looks at no hint that does not concern it", async () => {
    const [one, two] = [desk(), desk()];
    const held = await taken(one, "door");
    const next = two.acquire(asking("door"));
    await env.advance(3_000);
    calls.clear();
    await env.advance(60_000);
    // Two desks poll about every 1.25 seconds.
    expect(called("pass")).toBeLessThanOrEqual(2 * 60);
    const idle = called("pass");
    calls.clear();
    for (let hint = 0; hint < 200; hint += 1) {
      store.hint("work");
      await env.settle();
    }
    expect(called("pass")).toBeLessThan(idle);
    await held.release();
    await (await next).release();
    await Promise.all([one.close(), two.close()]);
  });

  test("hands a lock over with one pass", async () => {
    const [one, two] = [desk(), desk()];
    const held = await taken(one, "door");
    const next = two.acquire(asking("door"));
    await env.advance(3_000);
    calls.clear();
    await held.release();
    expect(await now(next)).not.toBe("open");
    expect(called("pass")).toBeLessThanOrEqual(2);
    await (await next).release();
    await Promise.all([one.close(), two.close()]);
  });

  test("leaves nothing of many names", async () => {
    const one = desk();
    for (let n = 0; n < 200; n += 1) await (await taken(one, `invoice-${n}`)).release();
    const held = await taken(one, "last");
    await env.advance(70_000);
    const gates = (await store.gates()).flatMap(({ key }) => (key.startsWith("mutex:") ? [key] : []));
    expect(gates).toEqual(["mutex:default/last"]);
    await held.release();
    await one.close();
    expect((await store.gates()).filter(({ key }) => key.startsWith("mutex:"))).toEqual([]);
    expect(await store.line("@locks", 10)).toMatchObject({ heads: [], total: 0 });
  });

  test("does not know whether an answer was lost, so a refused enqueue is taken back", async () => {
    const one = new LockDesk(
      new Proxy(store, {
        get: (target, name) =>
          name === "enqueue"
            ? async (...given: Parameters<Store["enqueue"]>) => {
                await target.enqueue(...given);
                throw new Error("the answer was lost");
              }
            : Reflect.get(target, name, target),
      }),
      env,
      { leaseMs: LEASE_MS },
    );
    await expect(one.acquire(asking("door"))).rejects.toThrow("the answer was lost");
    await env.advance(3_000);
    expect(await store.waiting()).toEqual([]);
    expect(await store.holders("mutex:default/door")).toEqual([]);
    await one.close();
  });
});
