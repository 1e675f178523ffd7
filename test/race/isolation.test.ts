// What each transaction sees of the others. A pass, and everything else that moves units, sees what is
// committed at each statement. A read shows one instant. Neither depends on the server's settings.

import { expect, onTestFinished, test } from "vitest";
import { stoppable } from "./barrier.ts";
import {
  Claimer,
  describeOn,
  endsWithin,
  GATE,
  IDLE,
  intake,
  limit,
  newTask,
  placeOf,
  scopeOf,
  untilWaitingOrOver,
} from "./support.ts";

/** A blocked process stays blocked until the test continues, so this bound only ends a failed test. */
const LONG = 2_500;

const STRICTER = {
  PostgreSQL: async (query: (text: string) => Promise<{ name?: unknown }[]>) => {
    const [row] = await query("SELECT current_database() AS name");
    await query(`ALTER DATABASE ${row?.name} SET default_transaction_isolation = 'repeatable read'`);
  },
  // The server's default applies to every database: it cannot be changed for one test, and our sessions start
  // with it.
  MariaDB: async () => {},
} as const;

for (const name of ["PostgreSQL", "MariaDB"] as const) {
  describeOn(name, () => {
    const open = async () => {
      const place = await placeOf(name);
      onTestFinished(() => place.close());
      const aside = await place.beside();
      await STRICTER[name](aside.query);
      const store = await place.open();
      return { place, aside, store };
    };

    test("a pass that had to wait for its gate counts what was claimed meanwhile, on a server set to repeatable reads", async () => {
      const { place, aside, store } = await open();
      const first = await stoppable(place);
      await store.openSession({ id: "s1", name: "s1", slots: 4, serves: "{}", leaseMs: 600_000 });
      await limit(store, GATE, 5);
      await store.enqueue([newTask("a")]);
      await intake(store);
      const stopped = await first.stop({ behind: /INSERT INTO sluice_running/ });
      const claim = first.store.pass(scopeOf({ exclusive: [GATE] }), () => ({
        ...IDLE,
        claim: [{ id: "a", held: true }],
      }));
      await stopped.there;
      let counted = 0;
      const look = store.pass(scopeOf({ exclusive: [GATE] }), ({ usage }) => {
        counted = usage.reduce((sum, { units }) => sum + units, 0);
        return IDLE;
      });
      await untilWaitingOrOver(name, aside, look);
      await stopped.goOn();
      await Promise.all([claim, look]);
      expect(counted).toBe(1);
    });

    test("who looks for a unit where it is not keeps nobody from putting others there", async () => {
      const { place, store } = await open();
      const first = await stoppable(place);
      await store.openSession({ id: "s1", name: "s1", slots: 4, serves: "{}", leaseMs: 600_000 });
      await limit(store, GATE, 5);
      await store.enqueue([newTask("b")]);
      await intake(store);
      await store.pass(scopeOf({ exclusive: [GATE] }), () => ({
        ...IDLE,
        claim: [{ id: "b", held: true }],
      }));
      // It has looked for the task in line and among the delayed units, and found it running.
      const stopped = await first.stop({ before: /INSERT INTO sluice_outcome/ });
      const cancel = first.store.cancel("b", "test");
      await stopped.there;
      const enqueue = store.enqueue([newTask("a"), newTask("c"), newTask("d", { delayMs: 60_000 })]);
      expect(await endsWithin(LONG, enqueue)).toBe(true);
      await stopped.goOn();
      expect(await cancel).toEqual({ was: "running" });
      await enqueue;
    });

    test("a wait is explained as it was at one instant, whatever ends while it is read", async () => {
      const { place, store } = await open();
      const reader = await stoppable(place);
      await limit(store, GATE, 1);
      await store.enqueue([newTask("a"), newTask("b")]);
      await intake(store);
      const holder = await Claimer.open(store, "holder");
      for (let look = 0; look < 5; look += 1) await holder.take();
      const stopped = await reader.stop({ before: /r\.claimed_at, r\.held/ });
      const wait = reader.store.wait("b");
      await stopped.there;
      expect((await holder.finish()).refused).toEqual([]);
      await stopped.goOn();
      const view = await wait;
      expect(view?.usage.map(({ units }) => units)).toEqual([1]);
      expect(view?.holders.map(({ id }) => id)).toEqual(["a"]);
    });
  });
}
