// The sync database: who may take a shared lock, in which order, and what a controller may write.

import { describe, expect, test } from "vitest";
import { memorySync } from "../../src/store/sync/memory.ts";
import type { SyncDatabase } from "../../src/store/sync/port.ts";
import { describeSync, INACTIVE_MS } from "./support/places.ts";
import { entry, joinAs, speaker, takeAs, tryAs, wantAs } from "./support/units.ts";

const START = 1_700_000_000_000;

interface World {
  readonly sync: SyncDatabase;
  pass(ms: number): void;
}

describe("locks that engines share, in memory", () => {
  verbs(async () => {
    let now = START;
    return {
      sync: memorySync({ inactiveMs: INACTIVE_MS, now: () => now }),
      pass: (ms) => {
        now += ms;
      },
    };
  });
});

describeSync("locks that engines share", (placed) => {
  verbs(async () => {
    let now = START;
    const sync = await (await placed()).open({ now: () => now });
    return {
      sync,
      pass: (ms) => {
        now += ms;
      },
    };
  });
});

const M = "mtx/ns/m";
const S = "sem/ns/s";

function verbs(fresh: () => Promise<World>): void {
  const twoControllers = async (): Promise<World> => {
    const world = await fresh();
    await joinAs(world.sync, "a");
    await joinAs(world.sync, "b");
    return world;
  };

  test("a mutex is held by one unit of one controller", async () => {
    const { sync } = await twoControllers();
    expect(await wantAs(sync, "a", entry("1", [M]))).toEqual(["1"]);
    expect(await wantAs(sync, "b", entry("1", [M]))).toEqual([]);
  });

  test("a semaphore without a limit lets nobody in, and one with a limit as many as it says", async () => {
    const { sync } = await twoControllers();
    const units = ["1", "2", "3"].map((key) => entry(key, [S]));
    expect(await wantAs(sync, "a", ...units)).toEqual([]);
    await sync.setLimit("ns/s", 2);
    expect(await takeAs(sync, "a", units)).toEqual(["1", "2"]);
    await sync.setLimit("ns/s", 0);
    expect(await wantAs(sync, "b", entry("4", [S]))).toEqual([]);
    await sync.setLimit("ns/s", null);
    expect(await takeAs(sync, "a", units.slice(2))).toEqual([]);
  });

  test("the order is priority, then time, then key, over all controllers", async () => {
    const { sync } = await twoControllers();
    await wantAs(sync, "a", entry("holder", [M], { priority: 99 }));
    const late = entry("late", [M], { at: 2_000_000 });
    const early = entry("early", [M], { at: 1_500_000 });
    const equal = entry("earlz", [M], { at: 1_500_000 });
    const first = entry("first", [M], { at: 3_000_000, priority: 1 });
    await sync.enter(speaker("a"), [late, first]);
    await sync.enter(speaker("b"), [early, equal]);
    await sync.release("a", [{ key: "holder", intent: (await held(sync))[0]?.intent ?? 0 }]);
    const order: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const [mine, yours] = [await takeAs(sync, "b", [early, equal]), await takeAs(sync, "a", [late, first])];
      order.push(...mine, ...yours);
      for (const row of await held(sync)) await sync.release(row.controller, [row]);
    }
    expect(order).toEqual(["first", "early", "earlz", "late"]);
  });

  test("a unit takes all of its locks or none, and holds back those behind it", async () => {
    const { sync } = await twoControllers();
    await wantAs(sync, "a", entry("holder", [M], { priority: 9 }));
    await sync.setLimit("ns/s", 1);
    expect(await wantAs(sync, "b", entry("both", [M, S], { priority: 5 }))).toEqual([]);
    expect(await wantAs(sync, "a", entry("behind", [S]))).toEqual([]);
    expect((await sync.look()).rows.filter(({ held }) => held)).toHaveLength(1);
  });

  test("a unit that waits for a semaphore without a limit holds nobody back", async () => {
    const { sync } = await twoControllers();
    await wantAs(sync, "b", entry("both", [M, S], { priority: 5 }));
    expect(await wantAs(sync, "a", entry("behind", [M]))).toEqual(["behind"]);
  });

  test("units of a controller that is not heard stop counting, and what they hold stays", async () => {
    const { sync, pass } = await twoControllers();
    await sync.setLimit("ns/s", 1);
    await wantAs(sync, "a", entry("holder", [M]));
    await sync.enter(speaker("a"), [entry("front", [S], { priority: 5 })]);
    expect(await wantAs(sync, "b", entry("behind", [S]), entry("next", [M]))).toEqual([]);
    pass(INACTIVE_MS - 1);
    expect(await sync.heartbeat(speaker("b"))).toBe(true);
    expect(await takeAs(sync, "b", [entry("behind", [S])])).toEqual([]);
    pass(1);
    expect(await takeAs(sync, "b", [entry("behind", [S]), entry("next", [M])])).toEqual(["behind"]);
    expect((await sync.controllers()).map(({ name, live }) => [name, live])).toEqual([
      ["a", false],
      ["b", true],
    ]);
  });

  test("a controller that was not heard takes nothing until it is heard again", async () => {
    const { sync, pass } = await twoControllers();
    await sync.enter(speaker("a"), [entry("1", [M])]);
    pass(INACTIVE_MS);
    expect(await tryAs(sync, "a", [entry("1", [M])])).toEqual({ kind: "inactive" });
    await sync.heartbeat(speaker("a"));
    expect(await takeAs(sync, "a", [entry("1", [M])])).toEqual(["1"]);
  });

  test("two live engines cannot have one name, and a name is free after the inactivity time", async () => {
    const { sync, pass } = await twoControllers();
    pass(5_000);
    const other = { controller: "a", engine: "another", instance: "x" };
    expect(await sync.join(other)).toEqual({ joined: false, heardMsAgo: 5_000 });
    pass(INACTIVE_MS - 5_000);
    expect(await sync.join(other)).toMatchObject({ joined: true });
  });

  test("a process that was replaced by another one of its engine writes nothing more", async () => {
    const { sync } = await twoControllers();
    await sync.enter(speaker("a"), [entry("1", [M])]);
    expect(await joinAs(sync, "a", "a-2")).toMatchObject({ joined: true });
    expect(await tryAs(sync, "a", [entry("1", [M])])).toEqual({ kind: "replaced" });
    expect(await sync.enter(speaker("a"), [entry("2", [M])])).toBe(false);
    expect(await sync.leave(speaker("a"), ["1"])).toBe(false);
    expect(await sync.heartbeat(speaker("a"))).toBe(false);
    expect((await sync.look()).rows.map(({ key }) => key)).toEqual(["1"]);
  });

  test("a late release frees nothing that was taken since", async () => {
    const { sync } = await twoControllers();
    await wantAs(sync, "a", entry("1", [M]));
    const [first] = await held(sync);
    await sync.release("a", [{ key: "1", intent: first?.intent ?? 0 }]);
    await wantAs(sync, "a", entry("1", [M]));
    await sync.release("a", [{ key: "1", intent: first?.intent ?? 0 }]);
    expect(await held(sync)).toHaveLength(1);
  });

  test("a unit that leaves and comes back keeps its place, and gets a new priority at once", async () => {
    const { sync } = await twoControllers();
    const [first, second] = [entry("1", [M], { at: 1_000 }), entry("2", [M], { at: 2_000 })];
    await sync.enter(speaker("a"), [first, second]);
    await sync.leave(speaker("a"), ["1"]);
    await sync.enter(speaker("a"), [first]);
    await sync.enter(speaker("a"), [{ ...second, priority: 3, at: 9_000 }]);
    const rows = (await sync.look([M])).rows.map(({ key, priority, at }) => [key, priority, at]);
    expect(rows).toEqual([
      ["1", 0, 1_000],
      ["2", 3, 2_000],
    ]);
  });

  test("a unit whose rows were deleted by hand takes nothing until it is in line again", async () => {
    const { sync } = await twoControllers();
    expect(await takeAs(sync, "a", [entry("1", [M])])).toEqual([]);
    await sync.enter(speaker("a"), [entry("1", [M])]);
    expect(await takeAs(sync, "a", [entry("1", [M, "mtx/ns/n"])])).toEqual([]);
  });

  test("a held lock is released by hand, of one holder or of all", async () => {
    const { sync } = await twoControllers();
    await sync.setLimit("ns/s", 3);
    await wantAs(sync, "a", entry("1", [S]), entry("2", [S]));
    await wantAs(sync, "b", entry("1", [S]));
    expect(await sync.releaseByHand(S, { key: "1", controller: "a" })).toBe(1);
    expect(await sync.releaseByHand(S)).toBe(2);
    expect(await sync.releaseByHand(S)).toBe(0);
  });

  test("an inactive controller is removed with everything it holds, a live one is not", async () => {
    const { sync, pass } = await twoControllers();
    await wantAs(sync, "a", entry("1", [M]), entry("2", [M]));
    expect(await sync.removeController("a")).toBeUndefined();
    pass(INACTIVE_MS);
    expect(await sync.removeController("a")).toEqual({ held: 1, pending: 1 });
    expect((await sync.look()).rows).toEqual([]);
    expect((await sync.controllers()).map(({ name }) => name)).toEqual(["b"]);
  });
}

const held = async (sync: SyncDatabase) => (await sync.look()).rows.filter((row) => row.held);
