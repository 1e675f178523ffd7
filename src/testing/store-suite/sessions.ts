import { expect, test } from "vitest";
import { NOTHING_SERVED } from "../../store/store.ts";
import type { Fresh } from "./bench.ts";

export function sessionSuite(fresh: Fresh): void {
  test("is alive until its lease ends, and renewing makes it last", async () => {
    const bench = await fresh();
    await bench.session("s1", { leaseMs: 100, slots: 6, serves: '{"queues":[],"tasks":[]}' });
    expect(await bench.store.sessions()).toEqual([
      {
        id: "s1",
        name: "worker s1",
        slots: 6,
        serves: '{"queues":[],"tasks":[]}',
        expiresAt: bench.clock.now() + 100,
      },
    ]);
    bench.clock.advance(99);
    expect(await bench.store.renewSession("s1", 100)).toBe(true);
    bench.clock.advance(99);
    expect((await bench.store.sessions()).map(({ id }) => id)).toEqual(["s1"]);
    bench.clock.advance(1);
    expect(await bench.store.sessions()).toEqual([]);
  });

  test("that has ended stays ended", async () => {
    const bench = await fresh();
    await bench.session("s1", { leaseMs: 100 });
    bench.clock.advance(100);
    expect(await bench.store.renewSession("s1", 100)).toBe(false);
    expect(await bench.store.sessions()).toEqual([]);
    expect(await bench.store.renewSession("nobody", 100)).toBe(false);
  });

  test("that has retired is alive, serves nothing, and keeps what it holds", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a");
    const [claim] = await bench.claim(["a"]);
    await bench.store.retireSession("s1");
    expect(await bench.store.sessions()).toMatchObject([{ id: "s1", serves: NOTHING_SERVED }]);
    expect(await bench.store.claimsOf("s1")).toEqual([claim]);
    expect(await bench.store.renewSession("s1", 100)).toBe(true);
    expect(await bench.store.sessions()).toMatchObject([{ id: "s1", serves: NOTHING_SERVED }]);
    await bench.store.retireSession("nobody");
  });

  test("that was closed is gone at once", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.store.closeSession("s1");
    expect(await bench.store.sessions()).toEqual([]);
    expect(await bench.store.renewSession("s1", 100)).toBe(false);
    await bench.store.closeSession("s1");
  });

  test("can be asked what it has claimed, in the order of the claims", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.session("s2");
    await bench.enqueue("a", "b", "c");
    const [c] = await bench.claim(["c"], { held: false });
    const [a] = await bench.claim(["a"]);
    await bench.claim(["b"], { session: "s2" });
    expect(await bench.store.claimsOf("s1")).toEqual([c, a]);
    expect(await bench.store.claimsOf("nobody")).toEqual([]);
  });

  test("can ask which of its claims are no longer its own", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a", "b");
    const claims = await bench.claim(["a", "b"]);
    expect(await bench.store.stale(claims)).toEqual([]);
    const [, b] = claims;
    if (b) await bench.report(b, { to: "succeeded" });
    expect(await bench.store.stale(claims)).toEqual(["b"]);
    expect(await bench.store.stale([])).toEqual([]);
  });

  test("can say how far its work has come", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a", "b");
    const [a, b] = await bench.claim(["a", "b"]);
    await bench.store.progress([
      { id: "a", epoch: a?.epoch ?? 0, value: "0.5" },
      { id: "b", epoch: b?.epoch ?? 0, value: '{"done":"½"}' },
    ]);
    expect((await bench.store.task("a"))?.progress).toBe("0.5");
    expect((await bench.store.task("b"))?.progress).toBe('{"done":"½"}');
    await bench.store.progress([]);
  });

  test("can add lines to the history of what it runs, and the numbers go on without gaps", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a", "b");
    const [a, b] = await bench.claim(["a", "b"]);
    const line = (claim: typeof a, data: string) => ({
      id: claim?.id ?? "",
      epoch: claim?.epoch ?? 0,
      kind: "TaskLogged" as const,
      data,
    });
    await bench.store.note([line(a, "1"), line(b, "2"), line(a, "3")]);
    await bench.store.note([]);
    if (a) await bench.report(a, { to: "succeeded" });
    expect(
      (await bench.store.events("a")).map(({ n, kind, data }) => [
        n,
        kind,
        kind === "TaskLogged" ? data : "",
      ]),
    ).toEqual([
      [1, "TaskEnqueued", ""],
      [2, "TaskClaimed", ""],
      [3, "TaskLogged", "1"],
      [4, "TaskLogged", "3"],
      [5, "TaskSucceeded", ""],
    ]);
    expect(await bench.history("b")).toEqual(["1 TaskEnqueued", "2 TaskClaimed", "3 TaskLogged"]);
  });
}
