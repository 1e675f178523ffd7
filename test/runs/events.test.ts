// The events of a run: its own and those of its steps' slots, in order and with their data.

import { expect, onTestFinished, test } from "vitest";
import type { Reference, Sluice } from "../../src/index.ts";
import { connect, defineApp, task, workflow } from "../../src/index.ts";
import { deferred } from "../e2e/support/deferred.ts";
import type { Place } from "../e2e/support/places.ts";
import { describeOn, storeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("a step that waited, claimed, renewed and released says so in this order, whatever it waited for in between", async () => {
    const { sluice, start, letGo } = await twoPools(place);
    await start("keepGpu");
    await start("keepLic");
    const { id } = await sluice.submit("needsBoth", "both" as never, { priority: 7 });
    const waitedFor = (gates: readonly string[]) =>
      until(
        async () => {
          const unit = (await sluice.runs.get(id))?.steps[0]?.unit;
          const lane = unit ? (await sluice.store.task(unit))?.lane : undefined;
          const last = lane ? (await sluice.store.events(lane)).at(-1)?.data : undefined;
          return last === JSON.stringify(gates);
        },
        `it waits for ${gates.join(" and ")}`,
      );
    await waitedFor(["pool:gpu", "pool:lic"]);
    expect((await slotEvents(sluice, id)).map(({ kind }) => kind)).toEqual(["StepSlotWaiting"]);
    letGo("keepGpu");
    await waitedFor(["pool:lic"]);
    letGo("keepLic");
    await until(async () => (await slotEvents(sluice, id)).length >= 4, "it was renewed twice");
    letGo("both");
    await sluice.runs.ended(id);

    const slots = await slotEvents(sluice, id);
    const [waiting, claimed, ...rest] = slots;
    expect(waiting).toMatchObject({
      kind: "StepSlotWaiting",
      step: "both",
      data: { reason: 'waiting for pool "gpu" and pool "lic"', gates: ["pool:gpu", "pool:lic"] },
    });
    expect(claimed).toMatchObject({ kind: "StepSlotClaimed", step: "both", data: { pools: "gpu,lic" } });
    expect(rest.at(-1)).toMatchObject({ kind: "StepSlotReleased", step: "both", data: { pools: "gpu,lic" } });
    const between = rest.slice(0, -1).map(({ kind }) => kind);
    expect(new Set(between)).toEqual(new Set(["StepSlotRenewed"]));
    expect(between.length).toBeGreaterThanOrEqual(2);

    const all = await sluice.runs.events(id);
    expect(all.map(({ kind }) => kind)).toEqual([
      "RunQueued",
      "RunDequeued",
      "RunStarted",
      "StepReady",
      "StepSlotWaiting",
      "StepSlotClaimed",
      "StepStarted",
      ...between,
      "StepSlotReleased",
      "StepSucceeded",
      "RunSucceeded",
    ]);
    expect(all.slice(0, 2)).toMatchObject([{ data: { priority: 7 } }, { data: { priority: 7 } }]);
    expect(all.map(({ at }) => at)).toEqual(all.map(({ at }) => at).sort((a, b) => a - b));

    // The step waited for one pool until that was free, and for the other until it was claimed.
    const { both = [] } = await sluice.runs.waits(id);
    expect(both.map(({ gate }) => gate)).toEqual(["pool:lic", "pool:gpu"]);
    const [lic, gpu] = both.map(({ forMs }) => forMs) as [number, number];
    expect(lic).toBe((claimed?.at ?? 0) - (waiting?.at ?? 0));
    expect(gpu).toBeGreaterThan(0);
    expect(gpu).toBeLessThan(lic);
  });

  test("a step that found its slots free waited for nothing, and one without pools says nothing of slots", async () => {
    const { sluice, letGo } = await twoPools(place);
    letGo("both");
    const free = await sluice.submit("needsBoth", "both" as never);
    await sluice.runs.ended(free.id);
    expect((await slotEvents(sluice, free.id)).map(({ kind }) => kind)).toEqual([
      "StepSlotClaimed",
      "StepSlotReleased",
    ]);
    expect(await sluice.runs.waits(free.id)).toEqual({});
    const plain = await sluice.submit("plain", undefined as never);
    await sluice.runs.ended(plain.id);
    expect(await slotEvents(sluice, plain.id)).toEqual([]);
  });

  test("a step that is tried again waits, claims and releases again", async () => {
    const { sluice, start, letGo } = await twoPools(place);
    await start("keepGpu");
    const { id } = await sluice.submit("needsBoth", "fails once" as never);
    await until(async () => (await slotEvents(sluice, id)).length === 1, "it waits");
    letGo("keepGpu");
    expect(await sluice.runs.ended(id)).toMatchObject({ state: "succeeded", steps: [{ attempt: 2 }] });
    // On a slow machine it holds its slots for long enough to renew them.
    const kinds = (await slotEvents(sluice, id)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind !== "StepSlotRenewed")).toEqual([
      "StepSlotWaiting",
      "StepSlotClaimed",
      "StepSlotReleased",
      "StepSlotClaimed",
      "StepSlotReleased",
    ]);
  });

  test("a run whose priority was changed in line was queued with the one and dequeued with the other", async () => {
    const { sluice, start, letGo } = await twoPools(place, 1);
    await start("keepGpu");
    const { id } = await sluice.submit("plain", undefined as never, { priority: 3 });
    await sluice.queue.priority(id, 9, "kim");
    letGo("keepGpu");
    await sluice.runs.ended(id);
    expect((await sluice.runs.events(id)).slice(0, 3)).toMatchObject([
      { kind: "RunQueued", data: { priority: 3 } },
      { kind: "RunReprioritized", data: { by: "kim", from: 3, to: 9 } },
      { kind: "RunDequeued", data: { priority: 9 } },
    ]);
  });
});

/**
 * Two pools of one slot each, and workflows that keep one of them, need both, or need none. Their code waits
 * until it is let go.
 */
async function twoPools(place: Place, max = 10) {
  const stays = new Map<string, ReturnType<typeof deferred<void>>>();
  const stayOf = (name: string) => {
    const stay = stays.get(name) ?? deferred();
    stays.set(name, stay);
    return stay;
  };
  const inside = new Set<string>();
  const work = task({
    id: "work",
    run: async (name: string, { attempt }) => {
      if (name === "fails once" && attempt === 1) throw new Error("not yet");
      inside.add(name);
      if (name !== "fails once") await stayOf(name).promise;
    },
  });
  const nothing = task({ id: "nothing", run: async () => {} });
  const needing = (id: string, step: string, pools: Readonly<Record<string, number>>) =>
    workflow({
      id,
      steps: (s, name: Reference<string>) =>
        s.step(step, work, name, { pools, retry: { attempts: 2, delay: "0ms" } }),
    });
  const app = defineApp({
    tasks: [work, nothing],
    workflows: [
      needing("keepGpu", "keep", { gpu: 1 }),
      needing("keepLic", "keep", { lic: 1 }),
      needing("needsBoth", "both", { gpu: 1, lic: 1 }),
      workflow({ id: "plain", steps: (s) => s.step("plain", nothing) }),
    ],
    pools: { gpu: { limit: 1, lease: "1s" }, lic: { limit: 1, lease: "1s" } },
    runs: { max },
  });
  const sluice = await connect({ store: await storeOn(place), app });
  onTestFinished(() => sluice.close({ graceMs: 1_000 }));
  onTestFinished(() => ["keepGpu", "keepLic", "both"].forEach((name) => void stayOf(name).resolve()));
  await sluice.worker({ poll: "50ms", pollJitter: "0ms" });
  return {
    sluice,
    start: async (name: string) => {
      await sluice.submit(name, name as never);
      await until(() => inside.has(name), `${name} has its slot`);
    },
    letGo: (name: string) => stayOf(name).resolve(),
  };
}

async function slotEvents(sluice: Sluice, run: string) {
  return (await sluice.runs.events(run)).filter(({ kind }) => kind.startsWith("StepSlot"));
}
