import { expect, test } from "vitest";
import type { Claimed } from "../../store/store.ts";
import type { Bench, Fresh } from "./bench.ts";
import { MAIL, NOTHING, scopeOf } from "./bench.ts";

/**
 * A unit that one session claimed and lost, and another has claimed since: the same id with another epoch.
 */
async function takenOver(bench: Bench, held: boolean): Promise<{ old: Claimed; current: Claimed }> {
  for (const session of ["s1", "s2"]) await bench.session(session, { leaseMs: 900_000 });
  await bench.enqueue("a");
  const old = await bench.claimOne("a", { held, claimLeaseMs: 1_000 });
  bench.clock.advance(1_000);
  await bench.store.pass(scopeOf([], { session: "s2" }), ({ lost }) => ({
    ...NOTHING,
    recover: lost.map(({ id, epoch }) => ({ id, epoch, to: "waiting", body: null })),
  }));
  const current = await bench.claimOne("a", { session: "s2", held, claimLeaseMs: 1_000 });
  expect(current.epoch).toBeGreaterThan(old.epoch);
  return { old, current };
}

export function fencingSuite(fresh: Fresh): void {
  const taken = async (held: boolean): Promise<{ bench: Bench; old: Claimed; current: Claimed }> => {
    const bench = await fresh();
    return { bench, ...(await takenOver(bench, held)) };
  };
  const lost = async (bench: Bench) => (await bench.look()).lost.map(({ id }) => id);

  test("cannot say for the other that its code has begun", async () => {
    const { bench, old, current } = await taken(true);
    await bench.store.pass(scopeOf([], { started: [old] }), () => NOTHING);
    bench.clock.advance(999);
    expect(await lost(bench)).toEqual([]);
    bench.clock.advance(1);
    expect(await lost(bench)).toEqual(["a"]);
    expect((await bench.store.task("a"))?.epoch).toBe(current.epoch);
  });

  test("cannot start for the other what that has claimed ahead of time", async () => {
    const { bench, old, current } = await taken(false);
    const start = async (session: string, { id, epoch }: Claimed) =>
      (await bench.store.pass(scopeOf([MAIL], { session }), () => ({ ...NOTHING, start: [{ id, epoch }] })))
        .started;
    const before = await bench.history("a");
    expect(await start("s1", old)).toEqual([]);
    expect([await bench.state("a"), await bench.heldAt("pool:smtp")]).toEqual(["claimed", 0]);
    expect(await bench.history("a")).toEqual(before);
    expect(await start("s2", current)).toEqual(["a"]);
    expect(await start("s1", old)).toEqual([]);
    expect((await bench.history("a")).slice(before.length).map((each) => each.split(" ")[1])).toEqual([
      "TaskStarted",
    ]);
  });

  test("cannot give up for the other: a process that died had the old claim", async () => {
    const { bench, old, current } = await taken(true);
    const gone = { id: "a", epoch: old.epoch, revoked: true, to: "retry", body: null } as const;
    const { accepted } = await bench.store.pass(scopeOf([], { finished: [gone] }), () => NOTHING);
    expect([...accepted]).toEqual([]);
    expect(await bench.store.task("a")).toMatchObject({ state: "claimed", epoch: current.epoch, losses: 0 });
  });

  test("is told that its claim is stale, while the other's is not", async () => {
    const { bench, old, current } = await taken(true);
    expect([await bench.store.stale([old]), await bench.store.stale([current])]).toEqual([["a"], []]);
  });

  test("has nothing left to ask for", async () => {
    const { bench, current } = await taken(true);
    expect(await bench.store.claimsOf("s1")).toEqual([]);
    expect((await bench.store.claimsOf("s2")).map(({ epoch }) => epoch)).toEqual([current.epoch]);
  });
}

export function fencedLeaseSuite(fresh: Fresh<"holdings">): void {
  test("has nothing to renew", async () => {
    const bench = await fresh();
    await takenOver(bench, true);
    expect(await bench.store.renewClaims("s1")).toEqual([]);
  });
}
