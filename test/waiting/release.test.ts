// `runs.whileWaiting: "release"`: a run that only waits gives its slots back, and comes back in its old place.

import { expect, test } from "vitest";
import type { AppDefinition, Reference, Sluice } from "../../src/index.ts";
import { task, workflow } from "../../src/index.ts";
import type { Place } from "../e2e/support/places.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { statesOf, working } from "../runs/support/world.ts";

const order: string[] = [];
const held = new Map<string, () => void>();
const hold = task({
  id: "hold",
  run: (name: string) =>
    new Promise<void>((resolve) => {
      order.push(name);
      held.set(name, resolve);
    }),
});
const asking = workflow({
  id: "asking",
  steps: (s, input: Reference<string>) => {
    const answer = s.approve("answer", { question: "?" });
    const other = s.waitFor("other", "never", { timeout: "1d", otherwise: 1, mayFail: true });
    const work = s.step("work", hold, input, { after: [answer] });
    return { by: answer.output.by, other: s.sleep("nap", "1ms", { after: [work] }).name, name: other.name };
  },
});
const busy = workflow({ id: "busy", steps: (s, input: Reference<string>) => s.step("work", hold, input) });
const locking = workflow({
  id: "locking",
  mutexes: ["door"],
  steps: (s) => s.approve("answer", { question: "?" }),
});

async function one(place: Place, whileWaiting: "hold" | "release"): Promise<Sluice> {
  order.length = 0;
  held.clear();
  const app: AppDefinition = {
    tasks: [hold],
    workflows: [asking, busy, locking],
    runs: { max: 1, whileWaiting },
  };
  return working(place, app);
}

const letGo = async (name: string): Promise<void> => (await until(() => held.get(name), `${name} holds`))();

const waits = (sluice: Sluice, id: string, step = "answer"): Promise<unknown> =>
  until(async () => (await statesOf(sluice, id))[step] === "waiting", `${step} of ${id} waits`);

const heldRuns = async (sluice: Sluice): Promise<number | undefined> =>
  (await sluice.limits.list()).find(({ key }) => key === "runs")?.held;

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("others run meanwhile, and it comes back before those that came later", {
    timeout: 60_000,
  }, async () => {
    const sluice = await one(place, "release");
    const { id } = await sluice.submit(asking, "first");
    await waits(sluice, id);
    await until(async () => (await heldRuns(sluice)) === 0, "its slot is free");
    const second = await sluice.submit(busy, "second");
    const third = await sluice.submit(busy, "third");
    await until(() => order.length === 1, "the second one runs");
    const began = (await sluice.runs.get(id))?.startedAt;
    await sluice.runs.approve(id, "answer", { by: "ana" });
    await until(async () => (await sluice.runs.get(id))?.state === "queued", "it is in line again");
    expect((await sluice.queue.list()).map((row) => row.id)).toEqual([id, third.id]);
    await letGo("second");
    await letGo("first");
    await waits(sluice, id, "other");
    await letGo("third");
    for (const run of [second, third]) expect((await sluice.runs.ended(run.id)).state).toBe("succeeded");
    expect(order).toEqual(["second", "first", "third"]);
    expect((await sluice.runs.get(id))?.startedAt).toBe(began);
    await sluice.runs.cancel(id);
  });

  test("by default it keeps its slots, and so does a run that holds a lock", async () => {
    const sluice = await one(place, "hold");
    const { id } = await sluice.submit(asking, "first");
    await waits(sluice, id);
    expect(await heldRuns(sluice)).toBe(1);
    await sluice.runs.cancel(id);
  });

  test("a run that holds a lock keeps its slots", async () => {
    const sluice = await one(place, "release");
    const { id } = await sluice.submit(locking, undefined);
    await waits(sluice, id);
    expect(await heldRuns(sluice)).toBe(1);
    await sluice.runs.approve(id, "answer");
    expect((await sluice.runs.ended(id)).state).toBe("succeeded");
  });

  test.each(["while it rests", "while it is in line again"])("it can be cancelled %s", async (when) => {
    const sluice = await one(place, "release");
    const { id } = await sluice.submit(asking, "first");
    await waits(sluice, id);
    await until(async () => (await heldRuns(sluice)) === 0, "its slot is free");
    const second = await sluice.submit(busy, "second");
    await until(() => order.length === 1, "the second one runs");
    if (when === "while it is in line again") {
      await sluice.runs.approve(id, "answer");
      await until(async () => (await sluice.runs.get(id))?.state === "queued", "it is in line again");
    }
    await sluice.runs.cancel(id);
    expect((await sluice.runs.get(id))?.state).toBe("cancelled");
    await letGo("second");
    expect((await sluice.runs.ended(second.id)).state).toBe("succeeded");
    expect((await sluice.store.timers()).nextAt).toBeNull();
  });

  test.each(["while it rests", "while it is in line again"])(
    "it can be paused %s, and takes no slot until it is resumed",
    {
      timeout: 60_000,
    },
    async (when) => {
      const sluice = await one(place, "release");
      const { id } = await sluice.submit(asking, "first");
      await waits(sluice, id);
      await until(async () => (await heldRuns(sluice)) === 0, "its slot is free");
      const second = await sluice.submit(busy, "second");
      await until(() => order.length === 1, "the second one runs");
      if (when === "while it rests") await sluice.runs.pause(id);
      await sluice.runs.approve(id, "answer", { by: "ana" });
      if (when === "while it is in line again") {
        await until(async () => (await sluice.runs.get(id))?.state === "queued", "it is in line again");
        await sluice.runs.pause(id);
      }
      expect(await sluice.runs.get(id)).toMatchObject({ paused: true, state: "started" });
      await letGo("second");
      expect((await sluice.runs.ended(second.id)).state).toBe("succeeded");
      const third = await sluice.submit(busy, "third");
      await until(() => order.length === 2, "the third one has the slot");
      expect([order, await heldRuns(sluice)]).toEqual([["second", "third"], 1]);
      const fourth = await sluice.submit(busy, "fourth");
      await sluice.runs.resume(id);
      await until(async () => (await sluice.runs.get(id))?.state === "queued", "it is in line again");
      // It comes back in its old place.
      expect((await sluice.queue.list()).map((row) => row.id)).toEqual([id, fourth.id]);
      await letGo("third");
      await letGo("first");
      await waits(sluice, id, "other");
      await letGo("fourth");
      for (const run of [third, fourth]) expect((await sluice.runs.ended(run.id)).state).toBe("succeeded");
      expect((await sluice.runs.get(id))?.steps[0]).toMatchObject({
        state: "succeeded",
        result: { by: "ana" },
      });
      await sluice.runs.cancel(id);
    },
  );
});
