/** The memory store in a few tests. The suite of all stores covers the rest. */
import { describe, expect, test } from "vitest";
import { laneOf } from "../lane.ts";
import type { Moves, NewTask, Passed, Scope, View } from "../store.ts";
import type { MemoryStore } from "./index.ts";
import { openMemory } from "./index.ts";

const lane = laneOf("mail", "send", [
  { gate: "queue:mail", slots: 1 },
  { gate: "pool:smtp", slots: 2 },
]);

const newTask = (id: string, more: Partial<NewTask> = {}): NewTask => ({
  id,
  name: "send",
  priority: 0,
  lane,
  input: "{}",
  options: "{}",
  key: null,
  runAt: null,
  delayMs: null,
  goodUntil: null,
  goodForMs: null,
  ...more,
});

const scope: Scope = {
  session: "s1",
  finished: [],
  started: [],
  lanes: [{ id: lane.id, want: 10 }],
  without: [],
  exclusive: ["pool:smtp", "queue:mail"],
  shared: [],
  intake: true,
  queues: ["mail"],
  perQueue: 4,
  parkedOn: [],
  elsewhere: [],
  sideBySide: false,
  prefetching: 0,
};

const nothing: Moves = { claim: [], claimLeaseMs: 5_000, start: [], expire: [], recover: [], lanes: [] };
const claimAll = (view: View): Moves => ({
  ...nothing,
  claim: view.heads.map(({ id }) => ({ id, held: true })),
});

async function opened(): Promise<{ store: MemoryStore; clock: { now: number } }> {
  const clock = { now: 1_000 };
  const store = openMemory({ now: () => clock.now });
  await store.openSession({ id: "s1", name: "one", slots: 4, serves: "{}", leaseMs: 10_000 });
  return { store, clock };
}

/** The first pass takes the lane in; the second one claims. */
async function claim(store: MemoryStore, tasks: readonly NewTask[]): Promise<Passed> {
  await store.enqueue(tasks);
  await store.pass(scope, () => nothing);
  return store.pass(scope, claimAll);
}

const kinds = async (store: MemoryStore, subject: string): Promise<string[]> =>
  (await store.events(subject)).map(({ n, kind }) => `${n} ${kind}`);

describe("a task in the memory store", () => {
  test("is enqueued, claimed, finished once, and has its outcome", async () => {
    const { store, clock } = await opened();
    const { claimed } = await claim(store, [newTask("b"), newTask("a", { priority: 1 })]);
    expect(claimed.map(({ id, attempt }) => [id, attempt])).toEqual([
      ["a", 1],
      ["b", 1],
    ]);
    clock.now = 2_000;
    const epoch = claimed[0]?.epoch as number;
    const report = { id: "a", epoch, to: "succeeded", body: "42", delayMs: 0 } as const;
    const passed = await store.pass({ ...scope, finished: [report] }, () => nothing);
    const again = await store.pass({ ...scope, finished: [report] }, () => nothing);
    expect([passed.accepted.has("a"), again.accepted.has("a")]).toEqual([true, false]);
    expect(await store.task("a")).toMatchObject({ state: "succeeded", body: "42", at: 2_000, epoch });
    expect(await kinds(store, "a")).toEqual(["1 TaskEnqueued", "2 TaskClaimed", "3 TaskSucceeded"]);
  });

  test("brings its lane, its queue and its gates with it", async () => {
    const { store } = await opened();
    await store.enqueue([
      newTask("a", { lane: laneOf("mail", "send", [{ gate: "pool:tenant=acme", slots: 1 }]) }),
    ]);
    const { arrived } = await store.pass(scope, () => nothing);
    expect(arrived).toHaveLength(1);
    await store.changeLimit({ key: "pool:tenant=*", to: "value", limit: 3, by: "me" });
    const gates = await store.gates();
    expect(gates.map(({ key, limit, line }) => [key, limit, line])).toEqual([
      ["pool:tenant=*", 3, "bypass"],
      ["pool:tenant=acme", 3, "bypass"],
    ]);
    expect(await store.queues()).toMatchObject([{ name: "mail", rank: 100, waiting: 1 }]);
  });

  test("that waits can be cancelled, and put back in line", async () => {
    const { store } = await opened();
    await store.enqueue([newTask("a")]);
    expect(await store.cancel("a", "me")).toEqual({ was: "waiting" });
    expect(await store.cancel("a", "me")).toEqual({ was: "cancelled" });
    expect(await store.cancel("nobody", "me")).toBeUndefined();
    expect(await store.retry("a", "me")).toEqual({ was: "cancelled" });
    expect(await store.task("a")).toMatchObject({ state: "waiting", body: null });
    expect(await kinds(store, "a")).toEqual(["1 TaskEnqueued", "2 TaskCancelled", "3 TaskRetried"]);
  });

  test("with a key that is taken is the task that has it", async () => {
    const { store } = await opened();
    const twins = await store.enqueue([newTask("a", { key: "k" }), newTask("b", { key: "k" }), newTask("c")]);
    expect(twins).toEqual([
      { id: "a", created: true },
      { id: "a", created: false },
      { id: "c", created: true },
    ]);
    await expect(store.enqueue([newTask("d")], {})).rejects.toMatchObject({ code: "NO_CALLER_TRANSACTION" });
  });

  test("comes due when its time has come, and expires when it is over", async () => {
    const { store, clock } = await opened();
    await store.enqueue([newTask("a", { delayMs: 500 }), newTask("b", { goodForMs: 900 })]);
    expect(await store.tend()).toMatchObject({ promoted: 0, expired: 0, nextDueAt: 1_500 });
    clock.now = 3_000;
    expect(await store.tend()).toMatchObject({ promoted: 1, expired: 1, nextDueAt: null });
    expect(await store.task("a")).toMatchObject({ state: "waiting", at: 1_500 });
    expect(await store.task("b")).toMatchObject({ state: "expired" });
  });
});

describe("a claim in the memory store", () => {
  test("is lost with its session, counts nowhere, and can be recovered", async () => {
    const { store, clock } = await opened();
    await claim(store, [newTask("a")]);
    clock.now = 11_000;
    let seen: View | undefined;
    await store.pass({ ...scope, session: "s2" }, (view) => {
      seen = view;
      const recover = view.lost.map(({ id, epoch, attempt }) => {
        return { id, epoch, to: "retry", losses: 1, attempt, body: '{"code":"LEASE_LOST"}' } as const;
      });
      return { ...nothing, recover };
    });
    expect(seen?.lost).toMatchObject([{ id: "a", started: true, attempt: 1, losses: 0 }]);
    expect(seen?.usage).toMatchObject([{ lane: lane.id, session: "s1", lost: true, units: 1 }]);
    expect(await store.renewSession("s1", 10_000)).toBe(false);
    expect(await store.task("a")).toMatchObject({ state: "waiting", attempt: 1, losses: 1, at: 11_000 });
    expect((await store.events("a")).at(-1)).toMatchObject({
      kind: "TaskLost",
      data: '{"code":"LEASE_LOST"}',
    });
  });

  test("leaves no trace when the decision throws", async () => {
    const { store } = await opened();
    const { claimed } = await claim(store, [newTask("a")]);
    const finished = claimed.map(({ id, epoch }) => {
      return { id, epoch, to: "failed", body: "{}", delayMs: 0 } as const;
    });
    await store.enqueue([newTask("b")]);
    const before = store.dump();
    const failing = store.pass({ ...scope, finished, started: finished }, () => {
      throw new Error("no idea");
    });
    await expect(failing).rejects.toThrow("no idea");
    expect(store.dump()).toEqual(before);
  });
});

test("a lane moves only when it is as it was seen, and says once what it waits for", async () => {
  const { store } = await opened();
  await store.enqueue([newTask("a")]);
  await store.pass(scope, () => nothing);
  const park = (blocked: string, age = 0) =>
    store.pass(scope, ({ lanes }) => ({
      ...nothing,
      lanes: lanes.map(({ id, stamp }) => {
        const mark = { unit: "a", passed: 1, since: 1_000 };
        return {
          lane: id,
          stamp: stamp - age,
          state: "parked",
          parked: "pool:smtp",
          mark,
          blocked,
          head: null,
        };
      }),
    }));
  await park('["pool:smtp"]');
  await park('["pool:smtp"]');
  await park("[]", 1);
  expect(await store.events(lane.id)).toMatchObject([{ n: 1, kind: "LaneWaiting", data: '["pool:smtp"]' }]);
  expect((await store.tend()).parkedOn).toEqual(["pool:smtp"]);
});

test("hints reach those who listen", async () => {
  const { store } = await opened();
  const heard: string[] = [];
  const stop = await store.listen((hint) => heard.push(hint));
  store.hint("work");
  await Promise.resolve();
  await stop();
  store.hint("later");
  await Promise.resolve();
  expect(heard).toEqual(["work"]);
});
