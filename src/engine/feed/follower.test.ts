import { expect, test } from "vitest";
import { ALL_TOPICS } from "../../core/change.ts";
import type { MemoryStore } from "../../store/memory/index.ts";
import { openMemory } from "../../store/memory/index.ts";
import type { Change, Interest, Store } from "../../store/store.ts";
import { LEAST_KEEP_MS, MARGIN_MS } from "../../store/store.ts";
import { FakeEnv } from "../../testing/fake-env.ts";
import { newTask } from "../../testing/store-suite/bench.ts";
import { FeedFollower } from "./follower.ts";
import type { Hearing, Member } from "./member.ts";

const ALL: Interest = { topics: ALL_TOPICS, run: null, task: null, queue: null };

interface World {
  readonly env: FakeEnv;
  readonly store: MemoryStore;
  readonly follower: FeedFollower;
}

function world(over: (store: MemoryStore) => Store = (store) => store): World {
  const env = new FakeEnv();
  const store = openMemory({ now: env.clock.now });
  return { env, store, follower: new FeedFollower(over(store), env) };
}

class Ear implements Hearing {
  readonly told: string[] = [];
  readonly errors: unknown[] = [];

  hear(changes: readonly Change[]): void {
    this.told.push(...changes.map(({ subject }) => subject));
  }

  lost(error: unknown): void {
    this.errors.push((error as { code?: string }).code);
  }
}

test("what happens while somebody begins is heard by them, even when others have read past it", async () => {
  let isSlow = false;
  let goOn = (): void => {};
  const { env, store, follower } = world(
    (inner) =>
      new Proxy(inner, {
        get: (target, name) => {
          if (name !== "follow" || !isSlow) return Reflect.get(target, name, target);
          return async (listeners: Parameters<Store["follow"]>[0]) => {
            const start = await target.follow(listeners);
            await new Promise<void>((resolve) => {
              goOn = resolve;
            });
            return start;
          };
        },
      }),
  );
  const first = new Ear();
  await follower.join(ALL, first);
  isSlow = true;
  const second = new Ear();
  const joining = follower.join({ ...ALL, task: "send" }, second);
  await env.settle();
  await store.enqueue([newTask("meanwhile")]);
  await env.advance(1_000);
  expect(first.told).toEqual(["meanwhile"]);
  goOn();
  await joining;
  await store.enqueue([newTask("after")]);
  await env.advance(1_000);
  expect(second.told).toEqual(["meanwhile", "after"]);
});

test("whoever resumes hears everything since, in order, and then goes on with the others", async () => {
  const { env, store, follower } = world();
  const first = new Ear();
  const member = await follower.join(ALL, first, 600_000);
  await store.enqueue([newTask("a"), newTask("b")]);
  await env.advance(1_000);
  const from = { listener: member.listener, position: member.position - 1 };
  await store.enqueue([newTask("c")]);
  const second = new Ear();
  await follower.resume(ALL, from, second);
  await store.enqueue([newTask("d")]);
  await env.advance(1_000);
  expect(second.told).toEqual(["b", "c", "d"]);
  expect(first.told).toEqual(["a", "b", "c", "d"]);
});

test("whoever resumes far behind a store that answers at once lets timers run between its reads", async () => {
  let reads = 0;
  let readsBefore: number | undefined;
  const { store, follower } = world(
    (inner) =>
      new Proxy(inner, {
        get: (target, name) => {
          if (name !== "changes") return Reflect.get(target, name, target);
          return async (look: Parameters<Store["changes"]>[0]) => {
            reads += 1;
            return { ...(await target.changes(look)), more: reads < 5 };
          };
        },
      }),
  );
  const cursor = { id: "earlier", topics: ALL_TOPICS, run: null, task: null, queue: null, keepMs: 600_000 };
  const position = await store.follow([cursor]);
  const resumed = follower.resume(ALL, { listener: cursor.id, position }, new Ear());
  setImmediate(() => {
    readsBefore = reads;
  });
  await resumed;
  expect(readsBefore).toBeLessThan(5);
});

/** How many of the members' listeners are still recorded. */
const recorded = async (store: Store, ...members: readonly Member[]): Promise<number> => {
  const listeners = members.map(({ listener }) => listener);
  return (await store.changes({ after: 0, limit: 1, listeners })).alive.size;
};

test("a member that nobody resumes takes its listener along, unless another member needs it", async () => {
  const { store, follower } = world();
  const [one, two] = [await follower.join(ALL, new Ear()), await follower.join(ALL, new Ear())];
  expect(two.listener).toBe(one.listener);
  follower.leave(one);
  expect(await recorded(store, one)).toBe(1);
  follower.leave(two);
  expect(await recorded(store, one)).toBe(0);
});

test("a listener that a cursor may be resumed from stays for its keep time, however its member left", async () => {
  const { env, store, follower } = world();
  const left = await follower.join(ALL, new Ear(), 0);
  // An equal interest that nobody resumes has a listener of its own, and takes only that one along.
  const brief = await follower.join(ALL, new Ear());
  follower.leave(left);
  follower.leave(brief);
  const closed = await follower.join({ ...ALL, task: "send" }, new Ear(), 600_000);
  follower.close(new Error("closed"));
  expect(await recorded(store, left, brief, closed)).toBe(2);
  env.clock.advance(LEAST_KEEP_MS + MARGIN_MS + 1);
  await store.tend();
  expect(await recorded(store, left, closed)).toBe(1);
});

test("a member that leaves while it begins does not keep the next one with its interest from joining", async () => {
  const { env, store, follower } = world();
  const joining = follower.join(ALL, new Ear());
  follower.close(new Error("away"));
  await joining;
  const heard = new Ear();
  await follower.join(ALL, heard);
  await store.enqueue([newTask("a")]);
  await env.advance(1_000);
  expect(heard.told).toEqual(["a"]);
});

test("a process that slept too long is told that it may have missed something", async () => {
  const { env, store, follower } = world();
  const heard = new Ear();
  await follower.join(ALL, heard);
  await env.settle();
  env.freeze(LEAST_KEEP_MS + MARGIN_MS + 1);
  await store.tend();
  await store.enqueue([newTask("missed")]);
  env.thaw();
  await env.settle();
  await env.advance(1_000);
  expect(heard.errors).toEqual(["FEED_EXPIRED"]);
  expect(heard.told).toEqual([]);
});
