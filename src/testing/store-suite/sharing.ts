import { expect, test } from "vitest";
import { sharedGate } from "../../core/shared/lock.ts";
import { laneOf } from "../../store/lane.ts";
import { RUNS } from "../../store/runs.ts";
import type { Fresh } from "./bench.ts";
import type { RunBench } from "./run-bench.ts";
import { letIn, newRun } from "./run-bench.ts";

const LEASE_MS = 5_000;

/** A run that needs shared locks, taken in by a pass. */
async function submit(bench: RunBench, id: string, priority = 0): Promise<void> {
  const asks = [
    { gate: "runs", slots: 1 },
    { gate: sharedGate(id), slots: 1 },
  ];
  await bench.store.submit([newRun(id, { priority, lane: laneOf(RUNS, "nightly", asks) })]);
  await bench.intake();
}

export function sharingSuite(fresh: Fresh<"runs" | "sharing" | "steering">): void {
  const led = async () => {
    const bench = await fresh();
    expect(await bench.store.lead("l1", LEASE_MS, "store-1")).toMatchObject({
      leads: true,
      engine: "store-1",
    });
    return bench;
  };
  const capacityOf = async (bench: RunBench, id: string) =>
    (await bench.store.gates()).find(({ key }) => key === sharedGate(id))?.limit;

  test("leads one session until its lease runs out or it gives up, and the store keeps its name", async () => {
    const bench = await led();
    expect(await bench.store.lead("l2", LEASE_MS, "other")).toMatchObject({
      leads: false,
      engine: "store-1",
    });
    bench.clock.advance(LEASE_MS - 1);
    expect(await bench.store.lead("l2", LEASE_MS, "other")).toMatchObject({ leads: false });
    bench.clock.advance(1);
    expect(await bench.store.lead("l2", LEASE_MS, "other")).toMatchObject({ leads: true, engine: "store-1" });
    expect(await bench.store.lead("l1", LEASE_MS, "other")).toMatchObject({ leads: false });
    await bench.store.lead("l2", 0, "other");
    expect(await bench.store.lead("l1", LEASE_MS, "other")).toMatchObject({ leads: true });
  });

  test("shows each unit with its place, its gate and its intent", async () => {
    const bench = await led();
    await submit(bench, "a", 3);
    await submit(bench, "b");
    const [intent] = await bench.store.intend("l1", ["a"]);
    await bench.store.openShared("l1", intent ? [intent] : []);
    expect(await bench.store.sharing()).toMatchObject([
      { unit: "a", priority: 3, place: "waiting", open: true, intent: intent?.n, session: "l1" },
      { unit: "b", priority: 0, place: "waiting", open: false, intent: null, session: null },
    ]);
    await letIn(bench, "a");
    await bench.store.cancelRun("b", "test");
    expect((await bench.store.sharing()).map(({ unit, place }) => [unit, place])).toEqual([
      ["a", "claimed"],
      ["b", "gone"],
    ]);
  });

  test("writes an intent only for a unit in line that has none, and never a number twice", async () => {
    const bench = await led();
    await submit(bench, "a");
    const first = await bench.store.intend("l1", ["a", "nobody"]);
    expect(first.map(({ unit }) => unit)).toEqual(["a"]);
    expect(await bench.store.intend("l1", ["a"])).toEqual([]);
    await bench.store.forgetShared("l1", first, []);
    const [second] = await bench.store.intend("l1", ["a"]);
    expect(second?.n).toBeGreaterThan(first[0]?.n ?? 0);
    expect(await bench.store.openShared("l1", first)).toEqual([]);
    expect(await capacityOf(bench, "a")).toBe(0);
  });

  test("closes no gate of a unit in progress, and closes that of a unit in line", async () => {
    const bench = await led();
    await submit(bench, "a");
    await submit(bench, "b");
    const intents = await bench.store.intend("l1", ["a", "b"]);
    expect(await bench.store.openShared("l1", intents)).toEqual(["a", "b"]);
    await letIn(bench, "a");
    expect(await bench.store.closeShared("l1", intents)).toEqual(["b"]);
    expect([await capacityOf(bench, "a"), await capacityOf(bench, "b")]).toEqual([1, 0]);
  });

  test("lets a session that lost its lead change nothing", async () => {
    const bench = await led();
    await submit(bench, "a");
    const intents = await bench.store.intend("l1", ["a"]);
    bench.clock.advance(LEASE_MS);
    await bench.store.lead("l2", LEASE_MS, "");
    expect(await bench.store.intend("l1", ["a"])).toEqual([]);
    expect(await bench.store.openShared("l1", intents)).toEqual([]);
    expect(await bench.store.closeShared("l1", intents)).toEqual([]);
    await bench.store.forgetShared("l1", intents, []);
    expect(await bench.store.sharing()).toMatchObject([{ unit: "a", intent: intents[0]?.n, open: false }]);
  });

  test("forgets the gate and the lane of a unit that is gone", async () => {
    const bench = await led();
    await submit(bench, "a");
    await bench.store.cancelRun("a", "test");
    await bench.store.forgetShared("l1", [], ["a"]);
    expect(await bench.store.sharing()).toEqual([]);
    expect(await capacityOf(bench, "a")).toBeUndefined();
  });
}
