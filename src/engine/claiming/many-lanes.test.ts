import { describe, expect, test } from "vitest";
import type { Claimer, World } from "../../../test/support/claimers.ts";
import { many, states, unit, world } from "../../../test/support/claimers.ts";
import type { MemoryStore } from "../../store/memory/index.ts";
import type { NewTask } from "../../store/store.ts";

describe("very many lanes", () => {
  const keyed = (name: string): NewTask => unit(name, { [`pool:k=${Number(name) % 300}`]: 1 });

  test("are all served, though each key has a limit of one and few are looked at together", async () => {
    const { store, claimer } = await world({ "pool:k=*": 1 });
    await store.enqueue(many(600, keyed));
    const both = [await claimer("a", { slots: 20 }), await claimer("b", { slots: 20 })];
    for (let round = 0; round < 400 && ((await states(store)).succeeded ?? 0) < 600; round += 1) {
      const one = both[round % 2] as Claimer;
      one.finish(...one.ids);
      await one.exchange({ hinted: round % 10 === 0, ownTurn: round % 4 === 0 });
      if (round % 10 === 0) one.claims.lookAt((await store.tend()).parkedOn);
    }
    for (const one of both) {
      one.finish(...one.ids);
      await one.exchange();
    }
    expect(await states(store)).toEqual({ succeeded: 600 });
  });

  const blocked = async (): Promise<World & { holder: Claimer; waiting: Claimer }> => {
    const made = await world({ "pool:k=*": 1 });
    await made.store.enqueue(many(100, (name) => unit(`h${name}`, { [`pool:k=${name}`]: 1 })));
    const holder = await made.claimer("holder", { slots: 100 });
    await holder.exhaust();
    expect(holder.ids).toHaveLength(100);
    await made.store.enqueue(many(100, (name) => unit(`w${name}`, { [`pool:k=${name}`]: 1 })));
    const waiting = await made.claimer("waiting", { slots: 100 });
    await waiting.exhaust();
    return { ...made, holder, waiting };
  };
  const parked = (store: MemoryStore): number =>
    store.dump().lane.filter((row) => row.parked !== null).length;

  test("are parked on what they wait for, and taken up by whoever frees it", async () => {
    const { store, holder } = await blocked();
    expect(parked(store)).toBeGreaterThan(40);
    holder.finish("h0042");
    await holder.exhaust({ hinted: false, ownTurn: true });
    expect(holder.ids).toContain("w0042");
    expect((await states(store)).claimed).toBe(100);
  });

  test("come back when a limit is raised in the store and the poll has looked", async () => {
    const { store, waiting } = await blocked();
    await store.changeLimit({ key: "pool:k=*", to: "value", limit: 2, by: "me" });
    expect(waiting.ids).toEqual([]);
    waiting.claims.lookAt((await store.tend()).parkedOn);
    for (let round = 0; round < 5; round += 1) await waiting.exhaust({ ownTurn: true });
    expect(waiting.ids).toHaveLength(100);
    expect(parked(store)).toBe(0);
  });

  test("do not strand what stands behind units that expire in a pass", async () => {
    const { store, clock, claimer } = await world({ "pool:k=*": 1 });
    const keyed = { "pool:k=x": 1 };
    await store.enqueue([unit("a0", keyed)]);
    const a = await claimer("a", { slots: 5 });
    await a.exhaust();
    a.finish("a0");
    await a.exhaust();
    await store.enqueue(many(100, (name) => unit(`z${name}`, { [`pool:k=${name}`]: 1 })));
    await a.exhaust();
    await store.enqueue([
      unit("a1", keyed, { priority: 9, goodForMs: 10 }),
      unit("a2", keyed, { priority: 8, goodForMs: 10 }),
      unit("a3", keyed, { priority: 7 }),
    ]);
    await a.exhaust();
    clock.advance(20);
    for (let round = 0; round < 100 && (await states(store)).waiting; round += 1) {
      a.finish(...a.ids);
      await a.exchange();
    }
    a.finish(...a.ids);
    await a.exchange();
    expect(await states(store)).toEqual({ succeeded: 102, expired: 2 });
  });

  test("of others do not hide our own, however many stand before them", async () => {
    const { store, claimer } = await world({ "pool:k=*": 1, "pool:f=*": 1 }, { theirs: 1, q: 100 });
    await store.enqueue(
      many(100, (name) => unit(`f${name}`, { [`pool:f=${name}`]: 1 }, { queue: "theirs", task: "other" })),
    );
    await store.enqueue(many(60, (name) => unit(`o${name}`, { [`pool:k=${name}`]: 1 })));
    const a = await claimer("a", { slots: 10 });
    for (let round = 0; round < 40; round += 1) {
      a.finish(...a.ids);
      await a.exchange({ hinted: round % 5 === 0 });
    }
    expect((await states(store)).succeeded).toBe(60);
  });
});
