// Controllers that meet at a shared lock. Each has its own connection, and one of them stops half-way.

import { expect, test } from "vitest";
import { decideShared, sharedId } from "../../src/core/shared/line.ts";
import type { DecideTake, SyncDatabase } from "../../src/store/sync/port.ts";
import { describeSync } from "./support/places.ts";
import { byTheRule, entry, joinAs, speaker, takeAs, tryAs } from "./support/units.ts";

const M = "mtx/ns/m";

/** Without the rule of the line, only the guard rows keep two controllers apart. */
const ifFree: DecideTake = ({ rows }) =>
  new Set(rows.some(({ held }) => held) ? [] : rows.map((row) => sharedId(row)));

describeSync("controllers that meet at a shared lock", (placed) => {
  test("count one after the other: of many that try at once, one gets it", async () => {
    const place = await placed();
    const names = ["a", "b", "c", "d"];
    const all = await Promise.all(names.map(async (name) => ({ name, sync: await place.open() })));
    for (const { name, sync } of all) {
      await joinAs(sync, name);
      await sync.enter(speaker(name), [entry(name, [M, "mtx/ns/n"])]);
    }
    for (let round = 0; round < 10; round += 1) {
      const tries = await Promise.all(
        all.map(({ name, sync }) => takeAs(sync, name, [entry(name, [M, "mtx/ns/n"])], ifFree)),
      );
      const holders = (await heldIn(all[0]?.sync)).map(({ key }) => key);
      expect(new Set(holders).size).toBe(1);
      expect(tries.flat()).toHaveLength(1);
      for (const row of await heldIn(all[0]?.sync)) await all[0]?.sync.release(row.controller, [row]);
      for (const { name, sync } of all) await sync.enter(speaker(name), [entry(name, [M, "mtx/ns/n"])]);
    }
  });

  test("locks in other orders do not wait for each other for ever", async () => {
    const place = await placed();
    const locks = ["sem/ns/1", "sem/ns/2", "sem/ns/3"];
    const [a, b] = [await place.open(), await place.open()];
    await joinAs(a, "a");
    await joinAs(b, "b");
    for (const lock of locks) await a.setLimit(lock.slice(4), 1_000);
    const there = locks.map((_, n) => entry(`there-${n}`, locks));
    const back = locks.map((_, n) => entry(`back-${n}`, [...locks].reverse()));
    await Promise.all([a.enter(speaker("a"), there), b.enter(speaker("b"), back)]);
    const [first, second] = await Promise.all([takeAs(a, "a", there), takeAs(b, "b", back)]);
    expect([first.length, second.length]).toEqual([3, 3]);
  });

  test("a process that is replaced while it decides finishes first, and the new one sees what it took", async () => {
    const place = await placed();
    const [old, fresh] = [await place.open(), await place.open()];
    await joinAs(old, "a");
    await old.enter(speaker("a"), [entry("1", [M])]);
    let joined: Promise<unknown> = Promise.resolve();
    await takeAs(old, "a", [entry("1", [M])], (view) => {
      joined = joinAs(fresh, "a", "a-2").then(async () => {
        expect(await heldIn(fresh)).toHaveLength(1);
      });
      return byTheRule(view);
    });
    await joined;
    expect(await tryAs(old, "a", [entry("1", [M])])).toEqual({ kind: "replaced" });
  });

  test("a row that is deleted by hand while it is taken is either gone or held", async () => {
    const place = await placed();
    const sync = await place.open();
    const aside = await place.beside();
    await joinAs(sync, "a");
    for (let round = 0; round < 10; round += 1) {
      await sync.enter(speaker("a"), [entry("1", [M, "mtx/ns/n"])]);
      const [taken] = await Promise.all([
        takeAs(sync, "a", [entry("1", [M, "mtx/ns/n"])]),
        aside.query("DELETE FROM sync_state WHERE held = false"),
      ]);
      expect(await heldIn(sync)).toHaveLength(taken.length * 2);
      await sync.releaseByHand(M);
      await sync.releaseByHand("mtx/ns/n");
    }
  });

  test("the tables are created once, however many engines start together", async () => {
    const place = await placed();
    const all = await Promise.all([1, 2, 3, 4].map(() => place.open()));
    expect((await all[3]?.look())?.rows).toEqual([]);
  });

  test("a decision sees what was committed before its guard rows", async () => {
    const place = await placed();
    const [a, b] = [await place.open(), await place.open()];
    await joinAs(a, "a");
    await joinAs(b, "b");
    await a.enter(speaker("a"), [entry("1", [M])]);
    await b.enter(speaker("b"), [entry("2", [M])]);
    const seen: number[] = [];
    let second: Promise<unknown> = Promise.resolve();
    await takeAs(a, "a", [entry("1", [M])], (view) => {
      second = takeAs(b, "b", [entry("2", [M])], (later) => {
        seen.push(later.rows.filter(({ held }) => held).length);
        return new Set(decideShared(later).admitted.map(({ id }) => id));
      });
      return byTheRule(view);
    });
    await second;
    expect(seen).toEqual([1]);
  });
});

const heldIn = async (sync: SyncDatabase | undefined) =>
  ((await sync?.look())?.rows ?? []).filter((row) => row.held);
