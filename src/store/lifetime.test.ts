import { expect, test } from "vitest";
import { SluiceError } from "../core/error.ts";
import { checked } from "./checked.ts";
import { Lifetime } from "./lifetime.ts";
import { openMemory } from "./memory/index.ts";

test("what is closed by many ends once, and all of them wait for it", async () => {
  const life = new Lifetime();
  let ends = 0;
  let isDone = false;
  let finish = (): void => {};
  const end = (): Promise<void> => {
    ends += 1;
    return new Promise((resolve) => {
      finish = () => {
        isDone = true;
        resolve();
      };
    });
  };
  const closing = [life.close(end), life.close(end)].map((each) => each.then(() => isDone));
  finish();
  expect(await Promise.all(closing)).toEqual([true, true]);
  await life.close(end);
  expect(ends).toBe(1);
});

test("a verb after the end is refused and not begun", async () => {
  const life = new Lifetime();
  await life.close(async () => {});
  let isBegun = false;
  const verb = async (): Promise<void> => {
    isBegun = true;
  };
  await expect(life.during(verb)).rejects.toMatchObject({ code: "CLOSED" });
  expect(isBegun).toBe(false);
});

test("a verb that the end cuts off is refused, with the driver's error as its cause", async () => {
  const life = new Lifetime();
  const cutOff = (error: Error): Promise<void> =>
    life.during(async () => {
      await life.close(async () => {});
      throw error;
    });
  const raw = new Error("Cannot use a pool after calling end on the pool");
  await expect(new Lifetime().during(() => Promise.reject(raw))).rejects.toBe(raw);
  const ours = new SluiceError("BAD_DATA", "The store cannot process this.");
  const isOpen = new Lifetime();
  await expect(isOpen.during(() => Promise.reject(ours))).rejects.toBe(ours);
  const first = cutOff(raw);
  await expect(first).rejects.toMatchObject({ code: "CLOSED", cause: raw });
});

test("an error with a code of ours says more than that the store was closed", async () => {
  const life = new Lifetime();
  const ours = new SluiceError("AMBIGUOUS_COMMIT", "It may or may not have happened.");
  const verb = life.during(async () => {
    await life.close(async () => {});
    throw ours;
  });
  await expect(verb).rejects.toBe(ours);
});

test("a hint to a closed store is lost without an error", async () => {
  const store = openMemory();
  const heard: string[] = [];
  const one = checked(store);
  await one.close();
  await store.listen((hint) => heard.push(hint));
  one.hint("work");
  await store.now();
  expect(heard).toEqual([]);
});
