import { expect, test } from "vitest";
import type { Bench, Fresh } from "./bench.ts";
import { NOTHING, scopeOf } from "./bench.ts";

export function leaseSuite(fresh: Fresh<"holdings">): void {
  const lost = async (bench: Bench) => (await bench.look()).lost.map(({ id }) => id);
  const working = async (leaseMs: number, ...ids: string[]) => {
    const bench = await fresh();
    await bench.session("s1", { leaseMs: 900_000 });
    await bench.enqueue(...ids);
    const claims = await bench.claim(ids, { leaseMs });
    await bench.store.pass(scopeOf([], { started: claims }), () => NOTHING);
    return { bench, claims };
  };

  test("ends a claim that has started, while its session lives on", async () => {
    const { bench } = await working(1_000, "a");
    bench.clock.advance(999);
    expect([await lost(bench), await bench.heldAt("pool:smtp")]).toEqual([[], 1]);
    bench.clock.advance(1);
    expect([await lost(bench), await bench.heldAt("pool:smtp")]).toEqual([["a"], 0]);
  });

  test("lasts as long as it is renewed, and each renewal is part of the history", async () => {
    const { bench, claims } = await working(1_000, "b", "a");
    for (let round = 0; round < 3; round += 1) {
      bench.clock.advance(999);
      expect(await bench.store.renewClaims("s1")).toEqual(claims.map(({ epoch }) => epoch));
    }
    expect(await lost(bench)).toEqual([]);
    expect((await bench.store.events("a")).slice(2)).toMatchObject([
      { n: 3, kind: "StepSlotRenewed", data: null },
      { n: 4, kind: "StepSlotRenewed", data: null },
      { n: 5, kind: "StepSlotRenewed", data: null, at: bench.clock.now() },
    ]);
    bench.clock.advance(1_000);
    expect((await lost(bench)).sort()).toEqual(["a", "b"]);
    expect(claims.map(({ leaseMs }) => leaseMs)).toEqual([1_000, 1_000]);
  });

  test("that has ended is not renewed any more", async () => {
    const { bench } = await working(1_000, "a");
    bench.clock.advance(1_000);
    expect(await bench.store.renewClaims("s1")).toEqual([]);
    expect(await lost(bench)).toEqual(["a"]);
    expect(await bench.history("a")).toEqual(["1 TaskEnqueued", "2 TaskClaimed"]);
  });

  test("is renewed by its own session, and only where there is one", async () => {
    const { bench, claims } = await working(1_000, "a");
    await bench.session("s2", { leaseMs: 900_000 });
    await bench.enqueue("plain");
    await bench.claim(["plain"]);
    expect(await bench.store.renewClaims("s2")).toEqual([]);
    expect(await bench.store.renewClaims("nobody")).toEqual([]);
    expect(await bench.store.renewClaims("s1")).toEqual(claims.map(({ epoch }) => epoch));
    expect((await bench.store.claimsOf("s1")).map(({ id, leaseMs }) => [id, leaseMs])).toEqual([
      ["a", 1_000],
      ["plain", null],
    ]);
  });

  test("holds before the start too, and never longer than the claim lease", async () => {
    const bench = await fresh();
    await bench.session("s1", { leaseMs: 900_000 });
    await bench.enqueue("short", "long");
    await bench.claim(["short"], { leaseMs: 300, claimLeaseMs: 500 });
    await bench.claim(["long"], { leaseMs: 9_000, claimLeaseMs: 500 });
    bench.clock.advance(299);
    expect(await lost(bench)).toEqual([]);
    bench.clock.advance(1);
    expect(await lost(bench)).toEqual(["short"]);
    bench.clock.advance(200);
    expect((await lost(bench)).sort()).toEqual(["long", "short"]);
  });

  test("begins anew when a claim that was made ahead of time starts", async () => {
    const bench = await fresh();
    await bench.session("s1", { leaseMs: 900_000 });
    await bench.enqueue("a");
    const claim = await bench.claimOne("a", { held: false, leaseMs: 400, claimLeaseMs: 500 });
    bench.clock.advance(399);
    await bench.store.pass(scopeOf([]), () => ({ ...NOTHING, start: [claim] }));
    bench.clock.advance(399);
    expect(await lost(bench)).toEqual([]);
    bench.clock.advance(1);
    expect(await lost(bench)).toEqual(["a"]);
  });
}
