// Sixty-four items end at the same instant, each on its own connection, while others advance their run. There
// is one test file per database, so that they run in parallel.

import { expect, onTestFinished, test } from "vitest";
import { task, workflow } from "../../src/index.ts";
import type { RunMove } from "../../src/store/store.ts";
import type { Place } from "../race/support.ts";
import { describeOn, placeOf } from "../race/support.ts";
import { begun, countsOf, Hands, settled } from "./support/bench.ts";

const WIDE = 64;
const STORES = 8;
const LOOKING = 2;
/** A small number by default; SLUICE_ROUNDS=200 for a thorough run. */
const ROUNDS = Number(process.env.SLUICE_ROUNDS ?? 40);
/** How often a whole window ends at once. After the last time nothing is left. */
const PER_RUN = 10;

const work = task({ id: "work", run: async (item: number) => item });
const after = task({ id: "after", run: async (all: number[]) => all.length });
const ITEMS = Array.from({ length: WIDE * PER_RUN }, (_, index) => index);
const wide = workflow({
  id: "wide",
  steps: (s) => s.step("after", after, s.each("items", ITEMS, work, { concurrency: WIDE }).output),
});

export function endAtOnce(name: Place["name"]): void {
  describeOn(name, () => {
    test(`${WIDE} items that end at the same instant leave no slot idle, one end of their step and one successor, ${ROUNDS} rounds`, {
      timeout: 400_000,
    }, async () => {
      const place = await placeOf(name);
      onTestFinished(() => place.close());
      const stores = await Promise.all(
        Array.from({ length: STORES }, () => place.open({ connections: WIDE / STORES })),
      );
      const store = stores[0] as (typeof stores)[number];
      const hands = await Promise.all(
        Array.from({ length: WIDE }, (_, index) =>
          Hands.open(stores[index % STORES] as typeof store, { slots: WIDE }),
        ),
      );
      const follower = await Hands.open(store, { tasks: ["after"] });
      const inHand = (): number => hands.reduce((sum, { held }) => sum + held.length, 0);
      for (let round = 0; round < ROUNDS; round += PER_RUN) {
        const run = await begun(store, { tasks: [work, after], workflows: [wide] });
        const moves = await settled(store);
        // Not every worker learns of a new list in its first pass.
        for (let tries = 0; inHand() < WIDE && tries < 20; tries += 1)
          await Promise.all(hands.slice(0, STORES).map((each) => each.take(STORES)));
        for (let left = ITEMS.length; left > 0; left -= WIDE) {
          expect(inHand(), `${left} left in ${run}`).toBe(WIDE);
          // Each claim is reported alone, by any worker. Some reports also take the next items, as a worker's
          // do. Meanwhile several stores advance the run.
          const claims = hands.flatMap(({ held }) => held.splice(0));
          const [, looked] = await Promise.all([
            Promise.all(
              hands.map((each, index) =>
                each.swap(claims.slice(index, index + 1), {
                  appetite: (index + left / WIDE) % 4 === 0 ? 4 : 0,
                }),
              ),
            ),
            Promise.all(stores.slice(0, LOOKING).map((each) => settled(each))),
          ]);
          // One more pass, by any worker.
          await hands[0]?.swap([], { appetite: WIDE });
          moves.push(...looked.flat());
          // The held claims check every round. The store is asked only when the line becomes empty, and
          // after.
          if (left > 2 * WIDE) continue;
          expect(await countsOf(store, run, "items")).toMatchObject({
            running: Math.min(WIDE, left - WIDE),
            waiting: Math.max(0, left - 2 * WIDE),
            succeeded: ITEMS.length - left + WIDE,
          });
        }
        const last = await Promise.all(stores.map((each) => settled(each)));
        moves.push(...last.flat());
        expect(endsOf(moves, "items"), run).toEqual(["succeeded"]);
        expect(enqueuedIn(moves, "items"), run).toBe(ITEMS.length);
        expect(enqueuedIn(moves, "after"), run).toBe(1);
        expect(await follower.take()).toEqual([ITEMS]);
        await follower.swap([...follower.held]);
        await settled(store);
        expect((await store.run(run))?.run.state).toBe("succeeded");
      }
      const { broken } = await store.inspect();
      expect(Object.entries(broken).filter(([, { ids }]) => ids.length > 0)).toEqual([]);
    });
  });
}

const endsOf = (moves: readonly RunMove[], step: string): string[] =>
  moves.flatMap(({ steps }) =>
    steps.flatMap(({ name, state }) => (name === step && state !== "open" ? [state] : [])),
  );

const enqueuedIn = (moves: readonly RunMove[], step: string): number =>
  moves.reduce((sum, { enqueue }) => sum + enqueue.filter((unit) => unit.step === step).length, 0);
