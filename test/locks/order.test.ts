// Lines of locks: their order, several locks at once, and what people see and do.

import { expect, test } from "vitest";
import type { LockAsks, Reference, Sluice } from "../../src/index.ts";
import { task, workflow } from "../../src/index.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { working } from "../runs/support/world.ts";
import { holders } from "./support/holders.ts";

const of = (id: string, hold: ReturnType<typeof holders>["hold"], locks: LockAsks) =>
  workflow({ id, ...locks, steps: (s, input: Reference<string>) => s.step("hold", hold, input) });

const stateOf = async (sluice: Sluice, id: string) => (await sluice.runs.get(id))?.state;
const ends = async (sluice: Sluice, id: string): Promise<void> =>
  void expect((await sluice.runs.ended(id)).state).toBe("succeeded");

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("the first goes first: by priority, then by age, whoever waits at another lock too", async () => {
    const { hold, begun, letGo, hasBegun } = holders();
    const a = of("a", hold, { mutexes: ["a"] });
    const b = of("b", hold, { mutexes: ["b"] });
    const both = of("both", hold, { mutexes: ["a", "b"] });
    const sluice = await working(place, { tasks: [hold], workflows: [a, b, both] });
    const first = await sluice.submit(a, "first");
    await hasBegun("first");
    const large = await sluice.submit(both, "large");
    const late = await sluice.submit(b, "late");
    const urgent = await sluice.submit(a, "urgent", { priority: 5 });
    const info = await until(async () => {
      const lock = await sluice.locks.info("a");
      return lock.line.length === 2 && lock;
    }, "two wait for a");
    expect(info).toMatchObject({ key: "mutex:default/a", limit: 1, held: 1, waiting: 2 });
    expect(info.holders.map(({ id }) => id)).toEqual([first.id]);
    expect(info.line.map(({ id }) => id)).toEqual([urgent.id, large.id]);
    // b is free, but the front of its line needs a too, so the one behind it waits. This is what a strict line means.
    expect(await stateOf(sluice, late.id)).toBe("queued");
    expect((await sluice.explain(late.id)).reasons).toMatchObject([
      { kind: "behind", gate: "mutex:default/b" },
    ]);
    for (const name of ["first", "urgent", "large", "late"]) await letGo(name);
    for (const { id } of [large, late, urgent]) await ends(sluice, id);
    expect(begun).toEqual(["first", "urgent", "large", "late"]);
    expect((await sluice.locks.list()).every(({ held, waiting }) => held === 0 && waiting === 0)).toBe(true);
  });

  test("a lock with the line skip holds nobody back at the others", async () => {
    const { hold, letGo, hasBegun, begun } = holders();
    const a = of("a", hold, { mutexes: ["a"] });
    const b = of("b", hold, { mutexes: ["b"] });
    const both = of("both", hold, { mutexes: [{ name: "a", line: "skip" }, "b"] });
    const sluice = await working(place, { tasks: [hold], workflows: [a, b, both] });
    await sluice.submit(a, "first");
    await hasBegun("first");
    const large = await sluice.submit(both, "large");
    await until(async () => (await sluice.locks.info("a")).line.length === 1, "it waits for a");
    expect((await sluice.locks.info("a")).line).toMatchObject([{ id: large.id, skips: true }]);
    const late = await sluice.submit(b, "late");
    await hasBegun("late");
    await letGo("late");
    await ends(sluice, late.id);
    // It lets others pass at a, too.
    const other = await sluice.submit(a, "other");
    for (const name of ["first", "large", "other"]) await letGo(name);
    for (const { id } of [large, other]) await ends(sluice, id);
    expect(new Set(begun)).toEqual(new Set(["first", "late", "large", "other"]));
  });

  test("a unit that names a lock twice holds it once", async () => {
    const { hold, letGo, hasBegun } = holders();
    const low = of("low", hold, { mutexes: ["m"], semaphores: [{ name: "s", slots: 2 }] });
    const locked = task({
      id: "locked",
      mutexes: ["t"],
      run: async (name: string) => void (await letGo(name)),
    });
    const main = workflow({
      id: "main",
      steps: (s, input: Reference<string>) => {
        s.run("low", low, input, { mutexes: ["m"], semaphores: ["s"] });
        s.step("step", locked, input, { mutexes: [{ name: "t" }] });
      },
    });
    const app = { tasks: [hold, locked], workflows: [main, low], semaphores: { s: 2 } };
    const sluice = await working(place, app);
    const { id } = await sluice.submit(main, "one");
    await hasBegun("one");
    await ends(sluice, id);
  });

  test("who waits for a lock can be cancelled at once, and leaves every line", async () => {
    const { hold, letGo, hasBegun } = holders();
    const a = of("a", hold, { mutexes: ["a"] });
    const b = of("b", hold, { mutexes: ["b"] });
    const both = of("both", hold, { mutexes: ["a", "b"] });
    const inside = workflow({
      id: "inside",
      steps: (s, input: Reference<string>) => s.step("hold", hold, input, { mutexes: ["a"] }),
    });
    const sluice = await working(place, { tasks: [hold], workflows: [a, b, both, inside] });
    const first = await sluice.submit(a, "first");
    await hasBegun("first");
    const large = await sluice.submit(both, "large");
    const step = await sluice.submit(inside, "step");
    const late = await sluice.submit(b, "late");
    await until(async () => (await sluice.locks.info("a")).line.length === 2, "two wait for a");
    await sluice.runs.cancel(large.id);
    await hasBegun("late");
    await sluice.runs.cancel(step.id);
    expect((await sluice.locks.info("a")).line).toEqual([]);
    for (const name of ["first", "late"]) await letGo(name);
    for (const { id } of [first, late]) await ends(sluice, id);
  });

  test("a retry waits without its lock", async () => {
    const { hold, letGo, hasBegun } = holders();
    let attempts = 0;
    const flaky = task({
      id: "flaky",
      retry: { attempts: 2, delay: "1h", jitter: 0 },
      mutexes: ["m"],
      run: () => {
        attempts += 1;
        throw new Error("not yet");
      },
    });
    const m = of("m", hold, { mutexes: ["m"] });
    const sluice = await working(place, { tasks: [hold, flaky], workflows: [m] });
    const { id } = await sluice.enqueue(flaky, undefined);
    await until(async () => (await sluice.get(id))?.state === "later", "it waits for its retry");
    const run = await sluice.submit(m, "other");
    await hasBegun("other");
    await letGo("other");
    await ends(sluice, run.id);
    expect(attempts).toBe(1);
    await sluice.cancel(id);
  });

  test("a person may take a lock from a run or a task, which is aborted", async () => {
    const begun: string[] = [];
    const aborted: string[] = [];
    const hold = task({
      id: "hold",
      mutexes: (name: string) => (name.startsWith("task") ? ["m"] : []),
      run: async (name: string, { signal }) => {
        begun.push(name);
        if (!signal.aborted)
          await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        aborted.push(name);
      },
    });
    const m = workflow({
      id: "m",
      mutexes: ["m"],
      steps: (s, input: Reference<string>) => s.step("hold", hold, input, { mutexes: [] }),
    });
    const sluice = await working(place, { tasks: [hold], workflows: [m] });
    const first = await sluice.submit(m, "run");
    const has = (id: string) =>
      until(
        async () => (await sluice.store.holders("mutex:default/m")).some((each) => each.id === id),
        "it is held",
      );
    await has(first.id);
    const second = await sluice.enqueue(hold, "task");
    await until(() => begun.includes("run"), "its code runs");
    await sluice.locks.release("m", { by: "ana" });
    const run = await sluice.runs.ended(first.id);
    expect(run).toMatchObject({ state: "failed", error: { code: "LOCK_RELEASED" } });
    expect(run.error?.message).toBe('mutex "m" was released by ana while this run held it.');
    await has(second.id);
    await until(() => begun.includes("task"), "its code runs");
    const { holder } = await sluice.locks.release("mutex:m", { holder: second.id, by: "ana" });
    expect(holder.id).toBe(second.id);
    expect((await sluice.ended(second.id)).state).toBe("cancelled");
    await until(() => aborted.length === 2, "both were told");
    await until(async () => (await sluice.locks.info("m")).held === 0, "it is free");
    await expect(sluice.locks.release("m")).rejects.toMatchObject({ code: "NOT_HELD" });
    await expect(sluice.locks.info("n")).rejects.toMatchObject({ code: "UNKNOWN_LOCK" });
    await expect(sluice.locks.set("m", 2)).rejects.toMatchObject({ code: "BAD_LIMIT" });
    await sluice.locks.set("semaphore:team/seats", 2, "ana");
    expect(await sluice.locks.info("semaphore:team/seats")).toMatchObject({ limit: 2, source: "operator" });
  });
});
