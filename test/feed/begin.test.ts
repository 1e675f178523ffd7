// How a listener begins and how changes get their positions, with each process stopped at the critical point.

import { expect, onTestFinished, test } from "vitest";
import { stoppable } from "../race/barrier.ts";
import {
  describeOn,
  endsWithin,
  newTask,
  placeOf,
  until,
  untilWaiting,
  untilWaitingOrOver,
} from "../race/support.ts";
import { everything, heardSince } from "./heard.ts";

for (const name of ["PostgreSQL", "MariaDB"] as const) {
  describeOn(name, () => {
    const all = async () => {
      const place = await placeOf(name);
      onTestFinished(() => place.close());
      const store = await place.open();
      const [early, late] = [await stoppable(place, 1), await stoppable(place, 2)];
      const told = async (since: number): Promise<string[]> =>
        (await heardSince(store, "l", since)).map(({ subject }) => subject);
      return { place, store, early, late, aside: await place.beside(), told };
    };

    test("whoever did not see a listener has committed before it begins; whoever comes later is told", async () => {
      const { store, early, late, aside, told } = await all();
      const open = await early.stop({ behind: /INSERT INTO sluice_change_new/ });
      const unseen = early.store.enqueue([newTask("unseen")]);
      await open.there;
      const following = store.follow([everything("l")]);
      // On PostgreSQL nobody waits for the listener, and the listener waits for no lock.
      if (name === "MariaDB") await untilWaiting(name, aside);
      else await until(async () => (await aside.query("SELECT id FROM sluice_listener")).length === 1);
      const later = late.store.enqueue([newTask("later")]);
      expect(await endsWithin(300, following)).toBe(false);
      await open.goOn();
      await unseen;
      await following;
      await later;
      // Its position may be before the listener's start, but it was recorded.
      expect(await told(0)).toEqual(["later"]);
      // It was committed before the listener began, so a reader finds it now.
      expect((await store.tasksById(["unseen"])).map(({ id }) => id)).toEqual(["unseen"]);
    });

    test("what is committed late is told late, and nothing that was recorded is cleared away unread", async () => {
      const { store, early, late, told } = await all();
      const since = await store.follow([everything("l")]);
      const open = await early.stop({ behind: /INSERT INTO sluice_change_new/ });
      const first = early.store.enqueue([newTask("first")]);
      await open.there;
      await store.enqueue([newTask("second")]);
      const clearing = await late.stop({ before: /DELETE FROM sluice_change_new/ });
      const publishing = late.store.changes({ after: since, limit: 10, listeners: ["l"] });
      await clearing.there;
      await open.goOn();
      await first;
      await clearing.goOn();
      expect((await publishing).changes.map(({ subject }) => subject)).toEqual(["second"]);
      expect(await told(since)).toEqual(["second", "first"]);
    });

    test("two who publish at the same moment publish each change once", async () => {
      const { store, early, late, aside, told } = await all();
      const since = await store.follow([everything("l")]);
      await store.enqueue([newTask("a")]);
      const look = { after: since, limit: 10, listeners: ["l"] };
      const open = await early.stop({ behind: /UPDATE sluice_feed/ });
      const one = early.store.changes(look);
      await open.there;
      const other = late.store.changes(look);
      await untilWaitingOrOver(name, aside, other);
      await open.goOn();
      expect([await one, await other].map(({ changes }) => changes.map(({ subject }) => subject))).toEqual([
        ["a"],
        ["a"],
      ]);
      expect(await told(since)).toEqual(["a"]);
    });
  });
}

describeOn("PostgreSQL", () => {
  test("a caller's own transaction keeps no listener from beginning, and what follows from it is told", {
    timeout: 15_000,
  }, async () => {
    const place = await placeOf("PostgreSQL");
    onTestFinished(() => place.close());
    const store = await place.open();
    const { default: pg } = await import("pg");
    const client = new pg.Client({ connectionString: place.where });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query("BEGIN");
    await store.enqueue([newTask("a")], client);
    const since = await store.follow([everything("l")]);
    await store.enqueue([newTask("b")], client);
    await client.query("COMMIT");
    await store.cancel("a", "ann");
    const heard = await heardSince(store, "l", since);
    expect(heard.map(({ subject, kind }) => `${subject} ${kind}`)).toEqual([
      "b TaskEnqueued",
      "a TaskCancelled",
    ]);
  });

  test("a long read of the tables keeps no listener from beginning", { timeout: 15_000 }, async () => {
    const place = await placeOf("PostgreSQL");
    onTestFinished(() => place.close());
    const store = await place.open();
    const aside = await place.beside();
    await aside.query("BEGIN");
    await aside.query("SELECT id FROM sluice_listener");
    await store.follow([everything("l")]);
    await aside.query("COMMIT");
  });
});
