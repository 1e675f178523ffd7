import { describe, expect, test } from "vitest";
import { laneOf } from "../../store/lane.ts";
import type { MemoryStore } from "../../store/memory/index.ts";
import { openMemory } from "../../store/memory/index.ts";
import type { NewTask, Scope, Store } from "../../store/store.ts";
import { FakeEnv } from "../../testing/fake-env.ts";
import { Tender } from "./tender.ts";

const unit = (id: string, more: Partial<NewTask> = {}): NewTask => ({
  id,
  name: "t",
  priority: 0,
  lane: laneOf("q", "t", [{ gate: "queue:q", slots: 1 }]),
  input: "{}",
  options: "{}",
  key: null,
  runAt: null,
  delayMs: null,
  goodUntil: null,
  goodForMs: null,
  ...more,
});

interface World {
  readonly env: FakeEnv;
  readonly store: MemoryStore;
  readonly tender: Tender;
  /** When it looked, counted from the start. */
  readonly looks: number[];
  readonly parked: (readonly string[])[];
  readonly hints: string[];
  readonly errors: unknown[];
}

async function world(over: (store: MemoryStore) => Partial<Store> = () => ({})): Promise<World> {
  const env = new FakeEnv();
  env.chance = 0;
  const begin = env.monotonic();
  const store = openMemory({ now: env.clock.now });
  const looks: number[] = [];
  const parked: (readonly string[])[] = [];
  const hints: string[] = [];
  const errors: unknown[] = [];
  await store.listen((hint) => hints.push(hint));
  const tender = new Tender({ ...store, ...over(store) }, env, {
    pollMs: 1_000,
    jitterMs: 500,
    looked: (on) => {
      looks.push(env.monotonic() - begin);
      parked.push(on);
    },
    failed: (error) => errors.push(error),
  });
  return { env, store, tender, looks, parked, hints, errors };
}

describe("the poll", () => {
  test("looks at once, and then every interval", async () => {
    const { env, tender, looks } = await world();
    await tender.start();
    await env.advance(3_500);
    expect(looks).toEqual([0, 1_000, 2_000, 3_000]);
  });

  test("is spread by chance, so that workers do not poll together", async () => {
    const { env, tender, looks } = await world();
    env.chance = 0.5;
    await tender.start();
    await env.advance(3_000);
    expect(looks).toEqual([0, 1_250, 2_500]);
  });

  test("comes sooner when something is due sooner, and brings it in line", async () => {
    const { env, store, tender, looks, hints } = await world();
    await store.enqueue([unit("soon", { delayMs: 300 }), unit("late", { delayMs: 5_000 })]);
    await tender.start();
    await env.advance(299);
    expect((await store.task("soon"))?.state).toBe("later");
    expect(hints).toEqual([]);
    await env.advance(1);
    expect(looks).toEqual([0, 300]);
    expect((await store.task("soon"))?.state).toBe("waiting");
    expect(hints).toEqual(["work"]);
    await env.advance(1_000);
    expect(looks).toEqual([0, 300, 1_300]);
  });

  test("looks again at once when it had its hands full", async () => {
    const { env, store, tender, looks } = await world();
    await store.enqueue(Array.from({ length: 1_200 }, (_, index) => unit(`u${index}`, { delayMs: 100 })));
    env.freeze(200);
    await tender.start();
    await env.advance(0);
    expect(looks).toEqual([200, 200, 200]);
    expect((await store.queues())[0]).toMatchObject({ waiting: 1_200, later: 0 });
  });

  test("expires what is past its deadline", async () => {
    const { env, store, tender } = await world();
    await store.enqueue([unit("a", { goodForMs: 1_500 })]);
    await tender.start();
    await env.advance(1_999);
    expect((await store.task("a"))?.state).toBe("waiting");
    await env.advance(1);
    expect((await store.task("a"))?.state).toBe("expired");
  });

  test("goes on after an error, and tells of it", async () => {
    let fails = true;
    const { env, tender, looks, errors } = await world((store) => ({
      tend: (after) => (fails ? Promise.reject(new Error("away")) : store.tend(after)),
    }));
    await tender.start();
    await env.advance(1_500);
    expect(looks).toEqual([]);
    expect(errors).toHaveLength(2);
    fails = false;
    await env.advance(1_000);
    expect(looks).toEqual([2_000]);
  });

  test("does not look twice at the same time, but once more when it was asked to in between", async () => {
    let release: () => void = () => {};
    let calls = 0;
    const { env, tender, looks } = await world((store) => ({
      tend: async (after) => {
        calls += 1;
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return store.tend(after);
      },
    }));
    void tender.start();
    tender.wake();
    tender.wake();
    await env.settle();
    expect(calls).toBe(1);
    release();
    await env.settle();
    expect([calls, looks.length]).toEqual([2, 1]);
    release();
    await env.settle();
    expect([calls, looks.length]).toEqual([2, 2]);
  });

  test("ends with a stop, after the look that is under way", async () => {
    let release: () => void = () => {};
    const { env, tender, looks } = await world((store) => ({
      tend: async (after) => {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return store.tend(after);
      },
    }));
    void tender.start();
    await env.settle();
    tender.wake();
    let stopped = false;
    const stop = tender.stop().then(() => {
      stopped = true;
    });
    await env.settle();
    expect(stopped).toBe(false);
    release();
    await stop;
    await env.advance(10_000);
    expect([looks.length, env.planned]).toEqual([1, []]);
  });
});

describe("parked gates", () => {
  /** Lanes that wait for a gate of their own, parked there. */
  async function park(store: MemoryStore, count: number): Promise<string[]> {
    const gates = Array.from({ length: count }, (_, index) => `pool:k=${String(index).padStart(4, "0")}`);
    const lanes = gates.map((key) => laneOf("q", "t", [{ gate: key, slots: 1 }]));
    await store.enqueue(lanes.map((lane, index) => unit(`u${index}`, { lane })));
    const scope: Scope = {
      session: "s",
      finished: [],
      started: [],
      lanes: lanes.map(({ id }) => ({ id, want: 1 })),
      without: [],
      exclusive: [],
      shared: [],
      intake: true,
      queues: [],
      perQueue: 0,
      parkedOn: [],
      elsewhere: [],
      sideBySide: false,
      prefetching: 0,
    };
    const nothing = { claim: [], claimLeaseMs: 1, start: [], expire: [], recover: [], lanes: [] };
    await store.pass(scope, () => nothing);
    await store.pass(scope, (view) => ({
      ...nothing,
      lanes: view.lanes.map(({ id, stamp, asks, mark, blocked }) => {
        const parked = (JSON.parse(asks) as [string, number][])[0]?.[0] as string;
        return { lane: id, stamp, state: "parked", parked, mark, blocked, head: null };
      }),
    }));
    return gates;
  }

  test("are told of with every poll, all of them while they are few", async () => {
    const { env, store, tender, parked } = await world();
    const gates = await park(store, 3);
    await tender.start();
    await env.advance(3_000);
    expect(parked).toEqual([gates, gates, gates, gates]);
  });

  test("are told of in turn when they are many, and then from the beginning again", async () => {
    const { env, store, tender, parked } = await world();
    const gates = await park(store, 450);
    await tender.start();
    await env.advance(3_000);
    expect(parked).toEqual([
      gates.slice(0, 200),
      gates.slice(200, 400),
      gates.slice(400),
      gates.slice(0, 200),
    ]);
  });

  test("are told of as none when there are none", async () => {
    const { env, tender, parked } = await world();
    await tender.start();
    await env.advance(1_000);
    expect(parked).toEqual([[], []]);
  });
});
