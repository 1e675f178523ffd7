import { expect, test } from "vitest";
import { openMemory } from "../store/memory/index.ts";
import { newTask } from "../testing/store-suite/bench.ts";
import { untilEnded } from "./ended.ts";

async function waited(many: number) {
  const store = openMemory();
  const asked = { one: 0, together: 0 };
  const counting = new Proxy(store, {
    get: (target, name) => {
      if (name === "task") asked.one += 1;
      if (name === "ended") asked.together += 1;
      return Reflect.get(target, name, target);
    },
  });
  const ids = Array.from({ length: many }, (_, index) => `t${index}`);
  await store.enqueue(ids.map((id) => newTask(id)));
  const all = Promise.all(ids.map((id) => untilEnded(counting, id)));
  return { store, ids, all, asked };
}

test("many who wait ask together, and each hears of its own end", async () => {
  const { store, ids, all, asked } = await waited(500);
  // They have looked a few times before anything ends.
  while (asked.together < 5) await new Promise((resolve) => setTimeout(resolve, 5));
  for (const id of ids) await store.cancel(id, "ann");
  const ended = await all;
  expect(ended.map((row) => [row?.id, row?.state])).toEqual(ids.map((id) => [id, "cancelled"]));
  // Once at the beginning and once at the end; in between, one question for all.
  expect(asked.one).toBe(2 * ids.length);
  expect(asked.together).toBeLessThan(50);
});

test("who no longer wants to know is told so, and the others wait on", async () => {
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
