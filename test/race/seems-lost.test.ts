// A claim that seems lost at one look may have been saved by the time it is locked: its holder reported in
// time that it had begun, or renewed its lease, and that was committed in between. It must not be taken away.

import { expect, onTestFinished, test } from "vitest";
import type { Claimed, Store } from "../../src/store/store.ts";
import type { Aside } from "../conformance/tables.ts";
import type { Stoppable } from "./barrier.ts";
import { stoppable } from "./barrier.ts";
import type { Place } from "./support.ts";
import { describeOn, GATE, IDLE, intake, limit, newTask, placeOf, scopeOf, until } from "./support.ts";

const NOW = {
  PostgreSQL: "(extract(epoch FROM clock_timestamp()) * 1000)::bigint",
  MariaDB: "CAST(ROUND(UNIX_TIMESTAMP(NOW(3)) * 1000) AS SIGNED)",
} as const;

/** Long enough for the holder to report in time, short enough to wait for. */
const LEASE_MS = 1_500;

for (const name of ["PostgreSQL", "MariaDB"] as const) {
  describeOn(name, () => {
    test("a claim whose holder said in time that it had begun is not lost", async () => {
      const { holder, pass, aside, claim } = await aClaim(name, { claimLeaseMs: LEASE_MS, leaseMs: null });
      const saying = await holder.stop({ behind: /UPDATE sluice_running SET started_at/ });
      const said = holder.store.pass(scopeOf({ started: [claim] }), () => IDLE);
      await saying.there;
      expect(await lostMeanwhile(name, pass, aside, saying, said)).toEqual([]);
    });

    test("a claim whose lease was renewed in time is not lost", async () => {
      const { holder, pass, aside } = await aClaim(name, { claimLeaseMs: LEASE_MS, leaseMs: LEASE_MS });
      const renewing = await holder.stop({ behind: /UPDATE sluice_running SET until_at/ });
      const renewed = holder.store.renewClaims("s1");
      await renewing.there;
      expect(await lostMeanwhile(name, pass, aside, renewing, renewed)).toEqual([]);
      expect(await renewed).toEqual([1]);
    });

    test("a claim that nobody has spoken for is", async () => {
      const { pass, aside } = await aClaim(name, { claimLeaseMs: LEASE_MS, leaseMs: null });
      const nobody = { goOn: async () => {} };
      expect(await lostMeanwhile(name, pass, aside, nobody, Promise.resolve())).toEqual(["a"]);
    });
  });
}

/**
 * The claims that a pass considers lost if it looked before the holder's report was committed, and locked
 * them after.
 */
async function lostMeanwhile(
  name: keyof typeof NOW,
  pass: Stoppable,
  aside: Aside,
  holder: { goOn(): Promise<void> },
  word: Promise<unknown>,
): Promise<string[]> {
  const lapsed = `SELECT id FROM sluice_running WHERE until_at <= ${NOW[name]}`;
  await until(async () => (await aside.query(lapsed)).length === 1);
  const looking = await pass.stop({
    before: /FROM sluice_running WHERE .*ORDER BY id\s+FOR UPDATE SKIP LOCKED/s,
  });
  let lost: string[] = [];
  const passed = pass.store.pass(scopeOf({ session: "s2", exclusive: [GATE] }), (view) => {
    lost = view.lost.map(({ id }) => id);
    return IDLE;
  });
  await looking.there;
  await holder.goOn();
  await word;
  await looking.goOn();
  await passed;
  return lost;
}

async function aClaim(
  name: Place["name"],
  { claimLeaseMs, leaseMs }: { claimLeaseMs: number; leaseMs: number | null },
): Promise<{ holder: Stoppable; pass: Stoppable; aside: Aside; claim: Claimed }> {
  const place = await placeOf(name);
  onTestFinished(() => place.close());
  const store: Store = await place.open();
  const [holder, pass, aside] = [await stoppable(place, 1), await stoppable(place, 2), await place.beside()];
  for (const id of ["s1", "s2"])
    await store.openSession({ id, name: id, slots: 4, serves: "{}", leaseMs: 600_000 });
  await limit(store, GATE, 5);
  await store.enqueue([newTask("a")]);
  await intake(store);
  // Both have connected to the database before the lease begins.
  await Promise.all([holder.store.now(), pass.store.now()]);
  const { claimed } = await store.pass(scopeOf({ exclusive: [GATE] }), () => ({
    ...IDLE,
    claimLeaseMs,
    claim: [{ id: "a", held: true, leaseMs }],
  }));
  return { holder, pass, aside, claim: claimed[0] as Claimed };
}
