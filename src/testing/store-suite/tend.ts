import { expect, test } from "vitest";
import type { Fresh } from "./bench.ts";
import { MAIL, newTask } from "./bench.ts";

export function tendSuite(fresh: Fresh): void {
  test("puts what came due in line, since it was due, and says when the next is", async () => {
    const bench = await fresh();
    const start = bench.clock.now();
    await bench.enqueue(newTask("a", { delayMs: 500 }), newTask("b", { delayMs: 900 }));
    expect(await bench.store.tend()).toEqual({
      now: start,
      promoted: 0,
      expired: 0,
      nextDueAt: start + 500,
      parkedOn: [],
    });
    bench.clock.advance(700);
    expect(await bench.store.tend()).toMatchObject({ promoted: 1, nextDueAt: start + 900 });
    expect(await bench.store.task("a")).toMatchObject({ state: "waiting", at: start + 500 });
    expect((await bench.intake()).arrived).toEqual([MAIL]);
    expect((await bench.look()).heads.map(({ id }) => id)).toEqual(["a"]);
    bench.clock.advance(200);
    expect(await bench.store.tend()).toMatchObject({ promoted: 1, nextDueAt: null });
  });

  test("puts a retry in line when its delay is over, with its attempts", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a");
    await bench.report(await bench.claimOne("a"), { to: "retry", delayMs: 300, body: "{}" });
    bench.clock.advance(300);
    await bench.store.tend();
    expect(await bench.store.task("a")).toMatchObject({ state: "waiting", attempt: 1 });
    expect(await bench.claimOne("a")).toMatchObject({ attempt: 2 });
  });

  test("ends what is past its deadline: waiting, delayed, or claimed ahead of time", async () => {
    const bench = await fresh();
    await bench.session();
    const goodForMs = 100;
    await bench.enqueue(
      newTask("waiting", { goodForMs }),
      newTask("later", { goodForMs, delayMs: 1_000 }),
      newTask("claimed", { goodForMs }),
      newTask("good", { goodForMs: 101 }),
    );
    const claim = await bench.claimOne("claimed", { held: false });
    bench.clock.advance(100);
    expect(await bench.store.tend()).toMatchObject({ expired: 3 });
    for (const id of ["waiting", "later", "claimed"]) {
      expect(await bench.store.task(id)).toMatchObject({ state: "expired", at: bench.clock.now() });
      expect((await bench.store.events(id)).at(-1)?.kind).toBe("TaskExpired");
    }
    expect(await bench.state("good")).toBe("waiting");
    expect(await bench.store.stale([claim])).toEqual(["claimed"]);
    expect(await bench.store.tend()).toMatchObject({ expired: 0 });
  });

  test("leaves alone what holds its slots: it has started", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue(newTask("a", { goodForMs: 100 }));
    const claim = await bench.claimOne("a");
    bench.clock.advance(100);
    await bench.store.tend();
    expect(await bench.state("a")).toBe("claimed");
    expect(await bench.report(claim, { to: "succeeded" })).toBe(true);
  });

  test("ends what ran past its deadline and then came back in line", async () => {
    const bench = await fresh();
    await bench.session("s1", { leaseMs: 900_000 });
    await bench.enqueue(newTask("a", { goodForMs: 100 }));
    const claim = await bench.claimOne("a", { claimLeaseMs: 900_000 });
    bench.clock.advance(100);
    await bench.store.tend();
    await bench.report(claim, { to: "retry" });
    bench.clock.advance(120_000);
    await bench.store.tend();
    expect(await bench.state("a")).toBe("expired");
  });

  test("by many at once moves each unit once", async () => {
    const bench = await fresh();
    const ids = Array.from({ length: 30 }, (_, index) => `t${index}`);
    await bench.enqueue(...ids.map((id) => newTask(id, { delayMs: 10 })));
    bench.clock.advance(10);
    const tended = await Promise.all([1, 2, 3, 4].map(() => bench.store.tend()));
    expect(tended.reduce((sum, { promoted }) => sum + promoted, 0)).toBe(30);
    await bench.intake();
    expect((await bench.look()).heads).toHaveLength(30);
  });

  test("forgets sessions an hour after their end, but none that still has claims to recover", async () => {
    const bench = await fresh();
    await bench.session("idle", { leaseMs: 10 });
    await bench.session("s1", { leaseMs: 10 });
    await bench.enqueue("a");
    await bench.claim(["a"]);
    bench.clock.advance(3_600_011);
    await bench.store.tend();
    expect((await bench.look()).lost.map(({ id }) => id)).toEqual(["a"]);
    expect(await bench.store.sessions()).toEqual([]);
    await bench.session("idle");
  });
}
