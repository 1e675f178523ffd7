// Units of a run stop at the same moment, or at the moment in which their run ends. Each stop is written by a
// transaction that cannot see the other yet, and still one look finds that the run holds nothing any more.

import { expect, test } from "vitest";
import type { Claimed, Store } from "../../src/store/store.ts";
import { FakeClock } from "../../src/testing/clock.ts";
import { Bench } from "../../src/testing/store-suite/bench.ts";
import { gateOf, NIGHTLY, started } from "../../src/testing/store-suite/run-bench.ts";
import type { Place } from "./support.ts";
import { describeOn, IDLE, limit, placeOf, scopeOf, untilWaiting } from "./support.ts";

const BARRIERS = ["pool:barrier-a", "pool:barrier-b"] as const;

/** Writes that the code of a claim has stopped, and then waits at a gate until the barrier is released. */
function stopAt(store: Store, barrier: string, { id, epoch }: Claimed): Promise<unknown> {
  const finished = [{ id, epoch, to: "stopped" as const }];
  return store.pass(scopeOf({ exclusive: [barrier], finished }), () => IDLE);
}

/** A transaction that holds the lock of a gate until it is released. */
async function held(place: Place, gate: string): Promise<() => Promise<unknown>> {
  const aside = await place.beside();
  await aside.query("BEGIN");
  await aside.query(`SELECT name FROM sluice_gate WHERE name = '${gate}' FOR UPDATE`);
  return () => aside.query("COMMIT");
}

/** A run with two running steps, and the means to look at it. */
async function runOn(place: Place) {
  const stores = [await place.open(), await place.open()] as const;
  const bench = new Bench(stores[0], new FakeClock());
  for (const gate of BARRIERS) await limit(stores[0], gate, 1);
  await bench.session("s1", { leaseMs: 600_000 });
  await started(bench, "r", "one", "two");
  const claims = (await bench.claim(["r-one", "r-two"])) as [Claimed, Claimed];
  const look = async () => (await stores[0].advance(() => ({ moves: [] }))).freed;
  const heldAt = async () => [await bench.heldAt("runs"), await bench.heldAt(gateOf("r"))];
  const watcher = await place.beside();
  return { stores, bench, claims, look, heldAt, watcher };
}

for (const name of ["PostgreSQL", "MariaDB"] as const) {
  describeOn(name, () => {
    test("two steps of a cancelled run stop at the same moment: the run is let go of once, after the last", async () => {
      const place = await placeOf(name);
      try {
        const { stores, bench, claims, look, heldAt, watcher } = await runOn(place);
        await bench.store.cancelRun("r", "ann");
        expect([await look(), await heldAt()]).toEqual([[], [1, 2]]);
        const letGo = [await held(place, BARRIERS[0]), await held(place, BARRIERS[1])] as const;
        const stops = [
          stopAt(stores[0], BARRIERS[0], claims[0]),
          stopAt(stores[1], BARRIERS[1], claims[1]),
        ] as const;
        await untilWaiting(name, watcher, 2);
        // Both have written it, and neither sees the other.
        await letGo[0]();
        await stops[0];
        expect([await look(), await heldAt()]).toEqual([[], [1, 1]]);
        await letGo[1]();
        await stops[1];
        expect(await look()).toEqual([NIGHTLY]);
        expect([await heldAt(), await look()]).toEqual([[0, undefined], []]);
      } finally {
        await place.close();
      }
    });

    test("a step stops in the moment in which its run ends: the run does not hold on to its slots for nothing", async () => {
      const place = await placeOf(name);
      try {
        const { stores, bench, claims, look, heldAt, watcher } = await runOn(place);
        const [one, two] = claims;
        expect(await bench.report(one, { to: "failed", body: "{}", stopping: true })).toBe(true);
        expect(await bench.report(two, { to: "succeeded", body: "1" })).toBe(true);
        const letGo = await held(place, BARRIERS[0]);
        const stop = stopAt(stores[0], BARRIERS[0], one);
        await untilWaiting(name, watcher);
        // The end of the run cannot see that its last step has stopped, and the step cannot see the end.
        expect(await stores[1].failRun("r", "{}")).toBe(true);
        expect((await stores[1].advance(() => ({ moves: [] }))).freed).toEqual([]);
        expect(await heldAt()).toEqual([1, 1]);
        await letGo();
        await stop;
        expect(await look()).toEqual([NIGHTLY]);
        expect(await heldAt()).toEqual([0, undefined]);
      } finally {
        await place.close();
      }
    });

    test("a pool's lease of stopping code that was renewed just in time is not taken for lapsed by a pass that saw it before", async () => {
      const place = await placeOf(name);
      try {
        const { stores, bench, watcher } = await runOn(place);
        await bench.enqueue("a");
        const claim = await bench.claimOne("a", { leaseMs: 60_000 });
        await stores[0].cancel("a", "ann");
        // The row is locked for a renewal, while to any other transaction its lease seems to have expired.
        await watcher.query(`UPDATE sluice_stopping SET until_at = 1 WHERE epoch = ${claim.epoch}`);
        const renewal = await place.beside();
        await renewal.query("BEGIN");
        await renewal.query(`SELECT epoch FROM sluice_stopping WHERE epoch = ${claim.epoch} FOR UPDATE`);
        const usage = async () => {
          const view = await bench.look([]);
          return view.usage
            .filter(({ session, lost }) => session === "s1" && !lost)
            .reduce((sum, { units }) => sum + units, 0);
        };
        expect(await usage()).toBe(3);
        await renewal.query(`UPDATE sluice_stopping SET until_at = NULL WHERE epoch = ${claim.epoch}`);
        await renewal.query("COMMIT");
        expect(await stores[0].stopping()).toMatchObject([{ epoch: claim.epoch }]);
      } finally {
        await place.close();
      }
    });
  });
}
