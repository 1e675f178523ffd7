import { expect, test } from "vitest";
import type { Fresh } from "./bench.ts";
import { BULK, MAIL, NOTHING, newTask, scopeOf } from "./bench.ts";

export function asideSuite(fresh: Fresh<"asides" | "lines" | "inspection" | "steering">): void {
  test("is seen by no pass, keeps its units, and says why", async () => {
    const bench = await fresh();
    await bench.enqueue("a", newTask("b", { lane: BULK }));
    await bench.intake();
    await bench.store.setAside(MAIL, "it cannot be");
    expect(await bench.store.asides()).toEqual([
      { ...MAIL, error: "it cannot be", at: bench.clock.now(), units: 1 },
    ]);
    expect((await bench.lane(MAIL)).state).toBe("aside");
    const beyond: string[] = [];
    await bench.store.pass(scopeOf([], { queues: ["mail"] }), (view) => {
      beyond.push(...view.beyond.map(({ id }) => id));
      return NOTHING;
    });
    expect(beyond).toEqual([BULK.id]);
    expect((await bench.store.wait("a"))?.aside).toMatchObject({ error: "it cannot be" });
    expect((await bench.store.wait("b"))?.aside).toBeNull();
    expect((await bench.store.inspect()).aside).toHaveLength(1);
  });

  test("can be one that no pass has taken in yet, and what arrives for it waits with the others", async () => {
    const bench = await fresh();
    await bench.enqueue("a");
    await bench.store.setAside(MAIL, "it cannot be");
    await bench.enqueue("b");
    await bench.intake();
    expect((await bench.lane(MAIL)).state).toBe("aside");
    expect((await bench.store.asides())[0]?.units).toBe(2);
  });

  test("comes back by its own id or by that of a unit, with its first unit as its head", async () => {
    const bench = await fresh();
    await bench.enqueue("b", newTask("a", { priority: 3 }));
    for (const id of [MAIL.id, "b"]) {
      await bench.store.setAside(MAIL, "it cannot be");
      expect(await bench.store.restore(id, "me")).toMatchObject({ id: MAIL.id, units: 2 });
      await bench.intake();
      expect(await bench.lane(MAIL)).toMatchObject({ state: "open", head: { id: "a", priority: 3 } });
    }
    expect(await bench.store.restore(MAIL.id, "me")).toBeUndefined();
    expect((await bench.store.events(MAIL.id)).filter(({ kind }) => kind === "LaneRestored")).toHaveLength(2);
  });

  test("is as new when the last of its units was cancelled", async () => {
    const bench = await fresh();
    await bench.enqueue("a", "b");
    await bench.intake();
    await bench.store.setAside(MAIL, "it cannot be");
    await bench.store.cancel("a", "me");
    expect(await bench.store.asides()).toHaveLength(1);
    await bench.store.cancel("b", "me");
    expect(await bench.store.asides()).toEqual([]);
    await bench.enqueue("c");
    await bench.intake();
    expect((await bench.lane(MAIL)).state).toBe("open");
  });

  test("keeps what is delayed, until it is put back", async () => {
    const bench = await fresh();
    await bench.enqueue(newTask("a", { delayMs: 10 }));
    await bench.store.setAside(MAIL, "it cannot be");
    bench.clock.advance(20);
    expect((await bench.store.tend()).promoted).toBe(0);
    await bench.store.restore("a", "me");
    expect((await bench.store.tend()).promoted).toBe(1);
  });

  test("a probe is a pass that changes nothing, and fails where the pass would", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a");
    await bench.intake();
    await bench.store.probe(scopeOf([MAIL]), () => ({ ...NOTHING, claim: [{ id: "a", held: true }] }));
    expect((await bench.store.task("a"))?.state).toBe("waiting");
    const broken = new Error("it cannot be decided");
    const failing = bench.store.probe(scopeOf([MAIL]), () => {
      throw broken;
    });
    await expect(failing).rejects.toThrow("it cannot be decided");
  });

  test("what has arrived can be taken in without a pass", async () => {
    const bench = await fresh();
    await bench.enqueue("a", newTask("b", { lane: BULK }));
    expect(await bench.store.takeIn()).toEqual([]);
    expect((await bench.lane(MAIL)).state).toBe("open");
    expect((await bench.lane(BULK)).state).toBe("open");
  });
}
