import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { DataError } from "../store/data-error.ts";
import { laneOf } from "../store/lane.ts";
import { openMemory } from "../store/memory/index.ts";
import type { Store } from "../store/store.ts";
import { FakeEnv } from "../testing/fake-env.ts";
import { newTask } from "../testing/store-suite/bench.ts";
import { untilEnded } from "./ended.ts";

type Asked = Record<"task" | "ended" | "tasksById" | "changes" | "follow" | "unfollow", number>;

/** A store that counts the calls it gets. */
function counted(store: Store = openMemory()): { store: Store; asked: Asked; followed: string[] } {
  const followed: string[] = [];
  const asked: Asked = { task: 0, ended: 0, tasksById: 0, changes: 0, follow: 0, unfollow: 0 };
  const counting = new Proxy(store, {
    get: (target, name) => {
      if (name in asked) asked[name as keyof Asked] += 1;
      if (name !== "follow") return Reflect.get(target, name, target);
      return (listeners: Parameters<Store["follow"]>[0]) => {
        followed.push(...listeners.map(({ id }) => id));
        return target.follow(listeners);
      };
    },
  });
  return { store: counting, asked, followed };
}

const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `t${index}`);

test("fifty who wait for a thousand tasks make one read per look, and read what has ended together", async () => {
  const { store, asked } = counted();
  const env = new FakeEnv();
  const ids = many(1_000);
  await store.enqueue(ids.map((id) => newTask(id)));
  // Each waiter waits for twenty tasks, one after the other.
  const waiters = Array.from({ length: 50 }, async (_, waiter) => {
    const states: (string | undefined)[] = [];
    for (const id of ids.slice(waiter * 20, waiter * 20 + 20))
      states.push((await untilEnded(store, id, undefined, env))?.state);
    return states;
  });
  await env.settle();
  const looks = async (): Promise<number> => {
    const before = asked.changes;
    // Without hints there is a poll, at least once a second.
    await env.advance(1_000);
    return asked.changes - before;
  };
  for (let poll = 0; poll < 10; poll += 1) await looks();
  expect(await looks()).toBe(1);
  const before = { ...asked };
  for (const id of ids.slice().reverse()) await store.cancel(id, "ann");
  await env.advance(30_000);
  const states = await Promise.all(waiters);
  expect(states.flat()).toEqual(ids.map(() => "cancelled"));
  expect([asked.task, asked.ended, asked.follow]).toEqual([0, 0, 1]);
  // No waiter reads for itself. A read of ended tasks follows a look, or a batch of waiters moving on to
  // their next task.
  expect(asked.tasksById - before.tasksById).toBeLessThan(asked.changes - before.changes + 2 * 20);
});

test("a thousand who wait at once are read once when they come, and once when they have ended", async () => {
  const { store, asked } = counted();
  const env = new FakeEnv();
  const ids = many(1_000);
  await store.enqueue(ids.map((id) => newTask(id)));
  const all = Promise.all(ids.map((id) => untilEnded(store, id, undefined, env)));
  await env.settle();
  await env.advance(5_000);
  // One read to learn their names, and one more once these are followed.
  expect(asked.tasksById).toBe(2);
  for (const id of ids) await store.cancel(id, "ann");
  await env.advance(5_000);
  expect((await all).map((row) => [row?.id, row?.state])).toEqual(ids.map((id) => [id, "cancelled"]));
  expect(asked.tasksById).toBe(3);
});

test("whoever no longer wants to know is told so, and the others wait on", async () => {
  const store = openMemory();
  await store.enqueue([newTask("a"), newTask("b")]);
  const leaving = new AbortController();
  const a = untilEnded(store, "a", leaving.signal);
  const b = untilEnded(store, "b");
  await store.now();
  leaving.abort(new Error("enough"));
  await expect(a).rejects.toThrow("enough");
  await store.cancel("b", "ann");
  expect((await b)?.state).toBe("cancelled");
});

test("what is not there is told at once", async () => {
  expect(await untilEnded(openMemory(), "nobody")).toBeUndefined();
});

test("a task that ends while its name begins to be followed is not missed", async () => {
  const store = openMemory();
  await store.enqueue([newTask("a")]);
  const racing = new Proxy(store, {
    get: (target, name) => {
      if (name !== "follow") return Reflect.get(target, name, target);
      return async (...given: Parameters<Store["follow"]>) => {
        await target.cancel("a", "ann");
        return target.follow(...given);
      };
    },
  });
  const env = new FakeEnv();
  const ended = untilEnded(racing, "a", undefined, env);
  await env.settle();
  expect((await ended)?.state).toBe("cancelled");
});

test("a feed that was interrupted is begun anew, and what was missed is read", async () => {
  const { store, asked, followed } = counted();
  const env = new FakeEnv();
  await store.enqueue([newTask("a")]);
  const ended = untilEnded(store, "a", undefined, env);
  await env.settle();
  await store.unfollow(followed);
  await store.cancel("a", "ann");
  await env.advance(3_000);
  expect((await ended)?.state).toBe("cancelled");
  expect(asked.follow).toBe(1);
});

test("a store that is away is told to whoever waits", async () => {
  const store = openMemory();
  const env = new FakeEnv();
  await store.enqueue([newTask("a")]);
  let isAway = false;
  const leaving = new Proxy(store, {
    get: (target, name) => {
      if (isAway && (name === "changes" || name === "tasksById"))
        return async () => {
          throw new Error("away");
        };
      return Reflect.get(target, name, target);
    },
  });
  const ended = untilEnded(leaving, "a", undefined, env);
  await env.settle();
  isAway = true;
  const told = expect(ended).rejects.toThrow("away");
  await env.advance(2_000);
  await told;
});

test("with many names, every end is heard of by one listener more; when nobody waits, by none", async () => {
  const { store, asked } = counted();
  const env = new FakeEnv();
  const ids = many(40);
  await store.enqueue(
    ids.map((id) => newTask(id, { lane: laneOf("mail", `task ${id}`, [{ gate: "queue:mail", slots: 1 }]) })),
  );
  const all = Promise.all(ids.map((id) => untilEnded(store, id, undefined, env)));
  await env.settle();
  for (const id of ids) await store.cancel(id, "ann");
  await env.advance(2_000);
  expect((await all).every((row) => row?.state === "cancelled")).toBe(true);
  expect(asked.unfollow).toBe(0);
  await env.advance(6_000);
  expect(asked.unfollow).toBe(16 + 1);
  const before = asked.changes;
  await env.advance(10_000);
  expect(asked.changes).toBe(before);
});

test("a unit that the store cannot read fails its own waiter, and no other one of the same read", async () => {
  const { store } = counted();
  const env = new FakeEnv();
  await store.enqueue([newTask("good"), newTask("other")]);
  const unreadable: Store = new Proxy(store, {
    get: (target, name) => {
      if (name !== "tasksById") return Reflect.get(target, name, target);
      return async (ids: readonly string[]) => {
        if (ids.includes("bad")) throw new DataError(new Error("invalid byte sequence"));
        return target.tasksById(ids);
      };
    },
  });
  const [good, bad, other] = ["good", "bad", "other"].map((id) =>
    untilEnded(unreadable, id, undefined, env).catch((error: unknown) => error),
  );
  await env.settle();
  expect(await bad).toMatchObject({ code: "BAD_DATA" });
  for (const id of ["good", "other"]) await store.cancel(id, "ann");
  await env.advance(10_000);
  for (const one of [good, other]) expect(await one).toMatchObject({ state: "cancelled" });
});

test("a signal that serves many waiters has one listener, and none of them keeps it", async () => {
  const store = openMemory();
  const ids = many(30);
  await store.enqueue(ids.map((id) => newTask(id)));
  const stop = new AbortController();
  const warnings: string[] = [];
  const warned = ({ name }: Error): void => void warnings.push(name);
  process.on("warning", warned);
  const first = untilEnded(store, "t0", stop.signal);
  const rest = ids.slice(1).map((id) => untilEnded(store, id, stop.signal).catch((error: unknown) => error));
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(1);
  await store.cancel("t0", "ann");
  expect(await first).toMatchObject({ state: "cancelled" });
  stop.abort("enough");
  expect(await Promise.all(rest)).toEqual(ids.slice(1).map(() => "enough"));
  process.off("warning", warned);
  expect(warnings).toEqual([]);
});
