// Cancel and finish at the same moment. Each locks the claim before it decides, so the second one learns what
// the first one wrote, and changes nothing of it.

import { expect, onTestFinished, test } from "vitest";
import type { Claimed, Store } from "../../src/store/store.ts";
import type { Aside } from "../conformance/tables.ts";
import type { Stoppable } from "./barrier.ts";
import { stoppable } from "./barrier.ts";
import type { Place } from "./support.ts";
import {
  describeOn,
  GATE,
  IDLE,
  intake,
  limit,
  newTask,
  placeOf,
  scopeOf,
  untilWaitingOrOver,
} from "./support.ts";

for (const name of ["PostgreSQL", "MariaDB"] as const) {
  describeOn(name, () => {
    test("a cancel that comes while the end is being written leaves that outcome as it is", async () => {
      const { first, second, aside, claim } = await aClaim(name);
      // Finished claims are settled in the first flight of a pass. The second flight has not been sent yet.
      const stopped = await first.stop({ behind: /INSERT INTO sluice_outcome/ });
      const finish = done(first.store, claim);
      await stopped.there;
      const cancel = second.cancel("a", "test");
      await untilWaitingOrOver(name, aside, cancel);
      await stopped.goOn();
      expect((await finish).accepted).toEqual(new Set(["a"]));
      expect(await cancel).toEqual({ was: "succeeded" });
      expect(await second.task("a")).toMatchObject({ state: "succeeded", body: '"done"' });
    });

    test("an end that comes while the cancel is being written is refused", async () => {
      const { first, second, aside, claim } = await aClaim(name);
      const stopped = await first.stop({ before: /INSERT INTO sluice_outcome/ });
      const cancel = first.store.cancel("a", "test");
      await stopped.there;
      const finish = done(second, claim);
      await untilWaitingOrOver(name, aside, finish);
      await stopped.goOn();
      expect(await cancel).toEqual({ was: "running" });
      expect((await finish).accepted).toEqual(new Set());
      expect((await second.task("a"))?.state).toBe("cancelled");
    });

    test("a cancel that comes while a unit is being claimed takes the claim, not the place in line", async () => {
      const { first, second, aside } = await aClaim(name);
      await second.enqueue([newTask("b")]);
      await intake(second);
      const stopped = await first.stop({ behind: /INSERT INTO sluice_running/ });
      const claim = first.store.pass(scopeOf({ exclusive: [GATE] }), () => ({
        ...IDLE,
        claim: [{ id: "b", held: true }],
      }));
      await stopped.there;
      const cancel = second.cancel("b", "test");
      await untilWaitingOrOver(name, aside, cancel);
      await stopped.goOn();
      expect((await claim).claimed.map(({ id }) => id)).toEqual(["b"]);
      expect(await cancel).toEqual({ was: "running" });
      expect((await second.task("b"))?.state).toBe("cancelled");
      expect(await aside.query("SELECT id FROM sluice_waiting")).toEqual([]);
    });

    test("a unit that is cancelled while a pass wants to claim it is not claimed", async () => {
      const { first, second, aside } = await aClaim(name);
      await second.enqueue([newTask("b")]);
      await intake(second);
      const stopped = await first.stop({ before: /INSERT INTO sluice_outcome/ });
      const cancel = first.store.cancel("b", "test");
      await stopped.there;
      const claim = second.pass(scopeOf({ exclusive: [GATE] }), () => ({
        ...IDLE,
        claim: [{ id: "b", held: true }],
      }));
      await untilWaitingOrOver(name, aside, claim);
      await stopped.goOn();
      expect(await cancel).toEqual({ was: "waiting" });
      expect((await claim).claimed).toEqual([]);
      expect((await second.task("b"))?.state).toBe("cancelled");
    });
  });
}

const done = (store: Store, { id, epoch }: Claimed) =>
  store.pass(scopeOf({ finished: [{ id, epoch, to: "succeeded", body: '"done"', delayMs: 0 }] }), () => IDLE);

/** A task that has been claimed and runs. */
async function aClaim(
  name: Place["name"],
): Promise<{ first: Stoppable; second: Store; aside: Aside; claim: Claimed }> {
  const place = await placeOf(name);
  onTestFinished(() => place.close());
  const second = await place.open();
  await second.openSession({ id: "s1", name: "s1", slots: 4, serves: "{}", leaseMs: 600_000 });
  await limit(second, GATE, 5);
  await second.enqueue([newTask("a")]);
  await intake(second);
  const { claimed } = await second.pass(scopeOf({ exclusive: [GATE] }), () => ({
    ...IDLE,
    claim: [{ id: "a", held: true }],
  }));
  return {
    first: await stoppable(place),
    second,
    aside: await place.beside(),
    claim: claimed[0] as Claimed,
  };
}
