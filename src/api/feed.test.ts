import { expect, onTestFinished, test } from "vitest";
import type { Env } from "../env/env.ts";
import { hostEnv } from "../env/host.ts";
import { checked } from "../store/checked.ts";
import { openMemory } from "../store/memory/index.ts";
import type { Store } from "../store/store.ts";
import { LEAST_KEEP_MS, MARGIN_MS } from "../store/store.ts";
import { FakeClock } from "../testing/clock.ts";
import { FakeEnv } from "../testing/fake-env.ts";
import { Bench, newTask } from "../testing/store-suite/bench.ts";
import { started } from "../testing/store-suite/run-bench.ts";
import type { ChangeFilter, ChangeView } from "./feed.ts";
import { Sluice } from "./sluice.ts";

function opened(store: Store = openMemory(), env: Env = hostEnv()) {
  const sluice = new Sluice(checked(store), undefined, env);
  onTestFinished(() => sluice.close());
  return { sluice, store };
}

/** Starts to follow, and resolves once it has begun: everything that happens from then on is heard. */
async function following(sluice: Sluice, store: Store, filter: ChangeFilter = {}) {
  const heard: ChangeView[] = [];
  const leaving = new AbortController();
  const begun = new Promise<void>((resolve) => {
    const { follow, resume } = store;
    const tell = <T>(answer: Promise<T>): Promise<T> => answer.finally(() => setImmediate(resolve));
    store.follow = (...given) => tell(follow.call(store, ...given));
    store.resume = (...given) => tell(resume.call(store, ...given));
  });
  const reading = (async () => {
    for await (const change of sluice.changes({ ...filter, signal: leaving.signal })) heard.push(change);
  })();
  await begun;
  const told = async (many: number): Promise<ChangeView[]> => {
    while (heard.length < many)
      await Promise.race([reading, new Promise((resolve) => setTimeout(resolve, 2))]);
    return heard;
  };
  const stop = async (): Promise<void> => {
    leaving.abort();
    await reading;
  };
  return { heard, told, stop, reading };
}

test("tells tasks by their own kinds, and the units of runs as runs and steps", async () => {
  const clock = new FakeClock();
  const store = openMemory({ now: clock.now });
  const { sluice } = opened(store);
  const bench = new Bench(store, clock);
  await bench.session();
  const feed = await following(sluice, store);
  await bench.enqueue("a");
  await started(bench, "r", "fetch");
  await bench.report(await bench.claimOne("r-fetch"), { to: "failed", body: '{"message":"no"}' });
  const changes = await feed.told(8);
  expect(changes.map(({ kind, subject, run, step }) => [kind, subject, run, step])).toEqual([
    ["TaskEnqueued", "a", undefined, undefined],
    ["RunQueued", "r", "r", undefined],
    ["RunDequeued", "r", "r", undefined],
    ["RunStarted", "r", "r", undefined],
    ["StepReady", "r-fetch", "r", "fetch"],
    ["StepSlotClaimed", "r-fetch", "r", "fetch"],
    ["StepStarted", "r-fetch", "r", "fetch"],
    ["StepFailed", "r-fetch", "r", "fetch"],
  ]);
  await feed.stop();
});

test("a filter of kinds is exact", async () => {
  const { sluice, store } = opened();
  const feed = await following(sluice, store, { kinds: ["TaskCancelled"] });
  await store.enqueue([newTask("a"), newTask("b")]);
  await store.cancel("a", "ann");
  await store.cancel("b", "ann");
  expect((await feed.told(2)).map(({ kind, subject, data }) => [kind, subject, data])).toEqual([
    ["TaskCancelled", "a", { by: "ann" }],
    ["TaskCancelled", "b", { by: "ann" }],
  ]);
  await feed.stop();
});

test("a kind that does not exist is refused, with the one that was meant", async () => {
  const { sluice } = opened();
  const next = sluice
    .changes({ kinds: ["TaskFinished"] })
    [Symbol.asyncIterator]()
    .next();
  await expect(next).rejects.toMatchObject({ code: "UNKNOWN_KIND" });
  const close = sluice
    .changes({ kinds: ["RunSuceeded"] })
    [Symbol.asyncIterator]()
    .next();
  await expect(close).rejects.toThrow('Did you mean "RunSucceeded"?');
});

test("a cursor goes on where it was, in another process too", async () => {
  const store = openMemory();
  const first = opened(store);
  const feed = await following(first.sluice, store, { keep: "10m", task: "send" });
  await store.enqueue([newTask("a"), newTask("b")]);
  const cursor = (await feed.told(2))[0]?.cursor as string;
  await feed.stop();
  await store.enqueue([newTask("c")]);
  const second = opened(store);
  const again = await following(second.sluice, store, { after: cursor, task: "send" });
  await store.enqueue([newTask("d")]);
  expect((await again.told(3)).map(({ subject }) => subject)).toEqual(["b", "c", "d"]);
  await again.stop();
});

test("a cursor whose listener is gone is refused, and so is one of another filter", async () => {
  const clock = new FakeClock();
  const { sluice, store } = opened(openMemory({ now: clock.now }));
  const feed = await following(sluice, store, { task: "send" });
  await store.enqueue([newTask("a")]);
  const cursor = (await feed.told(1))[0]?.cursor as string;
  const ask = (filter: ChangeFilter) => sluice.changes(filter)[Symbol.asyncIterator]().next();
  await expect(ask({ after: cursor })).rejects.toMatchObject({ code: "FEED_EXPIRED" });
  await feed.stop();
  clock.advance(LEAST_KEEP_MS + MARGIN_MS + 1);
  await store.tend();
  await expect(ask({ after: cursor, task: "send" })).rejects.toMatchObject({ code: "FEED_EXPIRED" });
  await expect(ask({ after: "nonsense" })).rejects.toMatchObject({ code: "BAD_CURSOR" });
});

test("a feed can be begun before it is read, and its first cursor is that of the beginning", async () => {
  const { sluice, store } = opened();
  const feed = sluice.changes({ task: "send" });
  expect(feed.cursor).toBeUndefined();
  const beginning = await feed.begin();
  expect(feed.cursor).toBe(beginning);
  await store.enqueue([newTask("a")]);
  const subjects = async (read: AsyncIterable<ChangeView>): Promise<string | undefined> => {
    for await (const { subject } of read) return subject;
    return undefined;
  };
  expect(await subjects(feed)).toBe("a");
  expect(await subjects(sluice.changes({ task: "send", after: beginning }))).toBe("a");
});

test("the cursor of a feed moves on while nothing matches, but never past a change in the reader's hands", async () => {
  const env = new FakeEnv();
  const { sluice, store } = opened(openMemory({ now: env.clock.now }), env);
  const kinds = ["TaskCancelled"];
  const feed = sluice.changes({ kinds });
  const position = (): number => Number(feed.cursor?.split(".")[1]);
  await Promise.all([feed.begin(), sluice.changes().begin()]);
  const reading = feed[Symbol.asyncIterator]();
  const first = reading.next();
  await store.enqueue([newTask("a"), newTask("b")]);
  await env.advance(1_000);
  expect(position()).toBe(2);
  await store.cancel("a", "ann");
  await store.cancel("b", "ann");
  await env.advance(1_000);
  expect((await first).value?.subject).toBe("a");
  expect(position()).toBe(2);
  const resumed = sluice.changes({ kinds, after: feed.cursor as string })[Symbol.asyncIterator]();
  expect((await resumed.next()).value?.subject).toBe("a");
  expect((await reading.next()).value?.subject).toBe("b");
  expect(position()).toBe(3);
  const last = expect(reading.next()).rejects.toMatchObject({ code: "CLOSED" });
  expect(position()).toBe(4);
  await sluice.close();
  await last;
});

/** Counts the changes that are read from the store. */
function counted(store: Store) {
  const read = { changes: 0, last: 0 };
  const counting = new Proxy(store, {
    get: (target, name) => {
      if (name !== "changes") return Reflect.get(target, name, target);
      return async (look: Parameters<Store["changes"]>[0]) => {
        const page = await target.changes(look);
        read.changes += page.changes.length;
        read.last = Math.max(read.last, page.changes.at(-1)?.position ?? 0);
        return page;
      };
    },
  });
  return { read, counting };
}

const named = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => `t${from + index}`);

/** Reads this many changes; time passes whenever the reader has to wait. */
async function readMany(env: FakeEnv, feed: AsyncIterator<ChangeView>, many: number): Promise<string[]> {
  const subjects: string[] = [];
  while (subjects.length < many) {
    let isThere = false;
    const next = feed.next().finally(() => {
      isThere = true;
    });
    await Promise.race([next, env.advance(1_000)]);
    for (let wait = 0; !isThere && wait < 10; wait += 1) await env.advance(1_000);
    if (!isThere) throw new Error(`nothing comes after ${subjects.at(-1)}`);
    subjects.push((await next).value?.subject);
  }
  return subjects;
}

test("a reader that does not read holds a bounded number of changes, and gets all of them when it reads on", async () => {
  const env = new FakeEnv();
  const { read, counting } = counted(openMemory({ now: env.clock.now }));
  const { sluice, store } = opened(counting, env);
  const feed = sluice.changes()[Symbol.asyncIterator]();
  const first = feed.next();
  await env.settle();
  const ids = named(0, 23_000);
  for (const some of [ids.slice(0, 1), ids.slice(1)]) {
    await store.enqueue(some.map((id) => newTask(id)));
    await env.advance(2_000);
  }
  // Each turn reads a page of a thousand, then lets others run.
  for (let page = 0; page < 25; page += 1) await env.settle();
  expect((await first).value?.subject).toBe("t0");
  expect(read.last).toBeLessThanOrEqual(12_000);
  expect(await readMany(env, feed, 22_999)).toEqual(ids.slice(1));
  // Almost nothing is read twice.
  expect(read.changes).toBeLessThan(26_000);
});

test("a reader that resumes within its keep time gets everything, however much that is", async () => {
  const env = new FakeEnv();
  const store = openMemory({ now: env.clock.now });
  const cursor = await opened(store, env).sluice.changes({ keep: "10m" }).begin();
  const ids = named(0, 14_000);
  await store.enqueue(ids.map((id) => newTask(id)));
  const { read, counting } = counted(store);
  const feed = opened(counting, env).sluice.changes({ keep: "10m", after: cursor });
  await feed.begin();
  await env.advance(2_000);
  expect(read.last).toBeLessThanOrEqual(12_000);
  expect(await readMany(env, feed[Symbol.asyncIterator](), 14_000)).toEqual(ids);
});

test("a reader that is behind does not hold up the others, and misses nothing", async () => {
  const env = new FakeEnv();
  const { sluice, store } = opened(openMemory({ now: env.clock.now }), env);
  const [slow, fast] = [sluice.changes(), sluice.changes({ task: "send" })];
  await Promise.all([slow.begin(), fast.begin()]);
  const ids = named(0, 12_000);
  const reading = fast[Symbol.asyncIterator]();
  for (let from = 0; from < 12_000; from += 4_000) {
    await store.enqueue(ids.slice(from, from + 4_000).map((id) => newTask(id)));
    expect(await readMany(env, reading, 4_000)).toEqual(ids.slice(from, from + 4_000));
  }
  const all = slow[Symbol.asyncIterator]();
  expect(await readMany(env, all, 12_000)).toEqual(ids);
  // Both go on together.
  await store.enqueue([newTask("last")]);
  expect(await readMany(env, reading, 1)).toEqual(["last"]);
  expect(await readMany(env, all, 1)).toEqual(["last"]);
});

test("a reader that begins while all others are behind hears only what comes after", async () => {
  const env = new FakeEnv();
  const { sluice, store } = opened(openMemory({ now: env.clock.now }), env);
  const slow = sluice.changes();
  await slow.begin();
  const ids = named(0, 13_000);
  await store.enqueue(ids.map((id) => newTask(id)));
  for (let page = 0; page < 30; page += 1) await env.advance(100);
  const later = sluice.changes();
  await later.begin();
  await store.enqueue([newTask("last")]);
  expect(await readMany(env, later[Symbol.asyncIterator](), 1)).toEqual(["last"]);
  expect(await readMany(env, slow[Symbol.asyncIterator](), 13_001)).toEqual([...ids, "last"]);
});

test("a reader that is too far behind is told so, after everything that it could still get", async () => {
  const env = new FakeEnv();
  const { sluice, store } = opened(openMemory({ now: env.clock.now }), env);
  const slow = sluice.changes();
  await slow.begin();
  const ids = named(0, 13_000);
  await store.enqueue(ids.map((id) => newTask(id)));
  for (let minute = 0; minute < 70; minute += 1) {
    await env.advance(60_000);
    await store.tend();
  }
  const feed = slow[Symbol.asyncIterator]();
  const subjects: unknown[] = [];
  const read = async (): Promise<void> => {
    for (let next = feed.next(); ; next = feed.next()) {
      await Promise.race([next, env.advance(10)]);
      subjects.push((await next).value?.subject);
    }
  };
  await expect(read()).rejects.toMatchObject({
    code: "FEED_EXPIRED",
    message: expect.stringContaining("are not kept any more"),
  });
  expect(subjects).toEqual(ids.slice(0, subjects.length));
  expect(subjects.length).toBe(10_000);
});

test("listeners are renewed as long as somebody reads, and a hundred who read make one read", async () => {
  const env = new FakeEnv();
  const store = openMemory({ now: env.clock.now });
  const asked = { changes: 0, follow: 0, keepFollowing: 0 };
  const counting = new Proxy(store, {
    get: (target, name) => {
      const verb: unknown = Reflect.get(target, name, target);
      if (!(name in asked) || typeof verb !== "function") return verb;
      return (...given: unknown[]) => {
        asked[name as keyof typeof asked] += 1;
        return verb.apply(target, given);
      };
    },
  });
  const { sluice } = opened(counting, env);
  const feeds = Array.from({ length: 100 }, () => sluice.changes({ queue: "mail" })[Symbol.asyncIterator]());
  const firsts = Promise.all(feeds.map((feed) => feed.next()));
  await env.settle();
  expect(asked.follow).toBe(1);
  await env.advance(60_000);
  await store.tend();
  expect(asked.keepFollowing).toBeGreaterThanOrEqual(5);
  expect(asked.changes).toBeLessThan(80);
  await store.enqueue([newTask("a")]);
  await env.advance(1_000);
  expect((await firsts).map(({ value }) => value?.subject)).toEqual(feeds.map(() => "a"));
});

test("what is closed under somebody who reads says so", async () => {
  const { sluice } = opened();
  const next = sluice.changes()[Symbol.asyncIterator]().next();
  const told = expect(next).rejects.toMatchObject({ code: "CLOSED" });
  await new Promise((resolve) => setTimeout(resolve, 50));
  await sluice.close();
  await told;
});
