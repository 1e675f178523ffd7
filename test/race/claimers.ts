// Fifty claimers at once on a limit of one: exactly one of them gets it, every time. Each database has its
// own test file, so that they run side by side.

import { expect, test } from "vitest";
import type { Place } from "./support.ts";
import { Claimer, describeOn, GATE, intake, limit, newTask, placeOf } from "./support.ts";

const CLAIMERS = 50;
const ROUNDS = 200;
const STORES = 5;

export function raceClaimers(name: Place["name"]): void {
  describeOn(name, () => {
    test(`${CLAIMERS} claimers on a limit of 1 get exactly one grant, ${ROUNDS} rounds`, {
      timeout: 180_000,
    }, async () => {
      const place = await placeOf(name);
      try {
        const stores = await Promise.all(
          Array.from({ length: STORES }, () => place.open({ connections: CLAIMERS / STORES })),
        );
        const store = stores[0] as (typeof stores)[number];
        const claimers = await Promise.all(
          Array.from({ length: CLAIMERS }, (_, index) =>
            Claimer.open(stores[index % STORES] as typeof store, `session-${index}`),
          ),
        );
        await limit(store, GATE, 0);
        await store.enqueue(
          Array.from({ length: ROUNDS }, (_, index) => newTask(`t${String(index).padStart(3, "0")}`)),
        );
        await intake(store);
        // Every claimer has seen the lane and its gates before the race begins.
        for (const claimer of claimers) await claimer.take();
        await limit(store, GATE, 1);
        for (const claimer of claimers) expect((await claimer.finish()).claimed).toEqual([]);

        for (let round = 0; round < ROUNDS; round += 1) {
          const grants = await Promise.all(claimers.map((claimer) => claimer.take()));
          expect(
            grants.reduce((sum, granted) => sum + granted, 0),
            `round ${round}`,
          ).toBe(1);
          const winner = claimers[grants.indexOf(1)] as Claimer;
          expect((await winner.finish()).refused).toEqual([]);
        }
        expect(await store.queues()).toMatchObject([{ waiting: 0, running: 0 }]);
      } finally {
        await place.close();
      }
    });
  });
}
