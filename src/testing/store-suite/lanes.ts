import { expect, test } from "vitest";
import type { Fresh } from "./bench.ts";
import { MAIL, NOTHING, newTask, scopeOf } from "./bench.ts";

export function laneSuite(fresh: Fresh): void {
  test("comes in open, with its first unit as its head and rank 100 unless its queue was declared", async () => {
    const bench = await fresh();
    await bench.enqueue("b", newTask("a", { priority: 6 }));
    await bench.intake();
    expect(await bench.lane(MAIL)).toEqual({
      ...MAIL,
      rank: 100,
      state: "open",
      parked: null,
      head: { priority: 6, at: bench.clock.now(), id: "a" },
      stamp: 0,
      mark: null,
      blocked: "[]",
    });
  });

  test("has a head that no unit stands before", async () => {
    const bench = await fresh();
    await bench.enqueue("m");
    await bench.intake();
    const heads: string[] = [];
    for (const task of [newTask("z"), newTask("b", { priority: 2 }), newTask("a", { priority: 1 })]) {
      bench.clock.advance(1);
      await bench.enqueue(task);
      await bench.intake();
      heads.push((await bench.lane(MAIL)).head.id);
    }
    expect(heads).toEqual(["m", "b", "b"]);
    const claim = await (async () => {
      await bench.session();
      return bench.claimOne("b");
    })();
    await bench.move(MAIL, { head: { priority: 1, at: bench.clock.now(), id: "a" } });
    expect((await bench.lane(MAIL)).head.id).toBe("a");
    await bench.report(claim, { to: "returned" });
    await bench.intake();
    expect((await bench.lane(MAIL)).head).toMatchObject({ id: "b", priority: 2 });
  });

  test("has the best of those who arrive together as its head, whoever came first", async () => {
    const bench = await fresh();
    await bench.enqueue("early");
    bench.clock.advance(1);
    await bench.enqueue(newTask("urgent", { priority: 5 }));
    bench.clock.advance(1);
    await bench.enqueue(newTask("late", { priority: 5 }));
    await bench.intake();
    expect((await bench.lane(MAIL)).head).toMatchObject({ id: "urgent", priority: 5 });
  });

  test("moves only when it is as it was seen: a stale stamp changes nothing", async () => {
    const bench = await fresh();
    await bench.enqueue("a");
    await bench.intake();
    const seen = await bench.lane(MAIL);
    const mark = { unit: "a", passed: 3, since: 17 };
    await bench.move(MAIL, { state: "idle", mark, blocked: '["pool:smtp"]' });
    const moved = await bench.lane(MAIL);
    expect(moved).toMatchObject({
      state: "idle",
      parked: null,
      mark,
      blocked: '["pool:smtp"]',
      stamp: seen.stamp + 1,
    });
    await bench.move(MAIL, { stamp: seen.stamp, state: "open", parked: null, blocked: "[]" });
    expect(await bench.lane(MAIL)).toEqual(moved);
  });

  test("that something arrives at moves on: a decision made before does not apply", async () => {
    const bench = await fresh();
    await bench.enqueue("a");
    await bench.intake();
    await bench.store.pass(scopeOf([MAIL]), () => NOTHING);
    const seen = await bench.lane(MAIL);
    await bench.enqueue(newTask("b", { priority: 1 }));
    await bench.intake();
    await bench.move(MAIL, { stamp: seen.stamp, state: "idle" });
    expect(await bench.lane(MAIL)).toMatchObject({ state: "open", head: { id: "b" } });
  });

  test("that arrivals of the same pass concern is not moved by it", async () => {
    const bench = await fresh();
    await bench.enqueue("a");
    await bench.intake();
    await bench.enqueue("b");
    await bench.move(MAIL, { state: "idle" });
    expect((await bench.lane(MAIL)).state).toBe("open");
  });

  test("that is idle opens again with what arrives, at the newcomer's place", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue(newTask("a", { priority: 5 }));
    await bench.claim(["a"]);
    await bench.move(MAIL, { state: "idle" });
    expect((await bench.lane(MAIL)).state).toBe("idle");
    bench.clock.advance(10);
    await bench.enqueue("b");
    await bench.intake();
    expect(await bench.lane(MAIL)).toMatchObject({
      state: "open",
      head: { priority: 0, at: bench.clock.now(), id: "b" },
    });
  });

  test("says each change of what it waits for once, in its own history", async () => {
    const bench = await fresh();
    await bench.enqueue("a");
    await bench.intake();
    for (const blocked of ['["pool:smtp"]', '["pool:smtp"]', '["queue:mail"]', "[]"])
      await bench.move(MAIL, { blocked });
    const events = await bench.store.events(MAIL.id);
    expect(events.map(({ n, kind, data }) => [n, kind, data])).toEqual([
      [1, "LaneWaiting", '["pool:smtp"]'],
      [2, "LaneWaiting", '["queue:mail"]'],
      [3, "LaneWaiting", "[]"],
    ]);
  });
}
