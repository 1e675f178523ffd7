// Another transaction has locked a unit in line, and is rolled back later: a cancel that loses its connection, or a
// pass that looked at the unit and left it. On PostgreSQL, passes leave such a unit and go on with the others.
// None of them may move the head of the lane past it, because nobody would look for it again.

import { expect, test } from "vitest";
import { connect, defineApp, task } from "../../src/index.ts";
import { Claimer, describeOn, intake, LANE, newTask, placeOf } from "./support.ts";

const TASKS = Array.from({ length: 60 }, (_, index) => `t${String(index).padStart(2, "0")}`);
const LOCKED = "t07";

for (const server of ["PostgreSQL", "PostgreSQL as installed"] as const) {
  describeOn(server, () => {
    test("a unit that was locked while passes went by is claimed once it is free", async () => {
      const place = await placeOf(server);
      try {
        const store = await place.open();
        await store.enqueue(TASKS.map((id) => newTask(id)));
        await store.changeLimit({ key: "pool:race", to: "value", limit: -1, by: "test" });
        await intake(store);
        const locker = await place.beside();
        await locker.query("BEGIN");
        await locker.query(`SELECT id FROM sluice_waiting WHERE id = '${LOCKED}' FOR UPDATE`);

        const claimer = await Claimer.open(store, "s1");
        let claimed = 0;
        // Each pass claims four, and every eighth corrects the heads. The cycle is odd, so each kind of pass does.
        for (let round = 0; round < 60; round += 1) {
          claimed += (await claimer.take()) + (await claimer.take());
          await claimer.finish();
        }
        expect(claimed).toBe(TASKS.length - 1);
        const look = await place.beside();
        const [lane] = await look.query(`SELECT state, head_id FROM sluice_lane WHERE id = '${LANE.id}'`);
        expect(lane).toMatchObject({ state: 1 });
        expect(String(lane?.head_id) <= LOCKED).toBe(true);

        await locker.query("ROLLBACK");
        expect(await claimer.take()).toBe(1);
      } finally {
        await place.close();
      }
    });

    test("a worker runs it with its next poll", async () => {
      const place = await placeOf(server);
      try {
        await place.open();
        const nap = task({ id: "nap", run: async () => {} });
        const sluice = await connect({ store: place.where, app: defineApp({ name: "naps", tasks: [nap] }) });
        place.atEnd(() => sluice.close());
        const sent = await sluice.enqueueMany(TASKS.map(() => ({ task: nap, input: undefined })));
        const ids = sent.map(({ id }) => id);
        const locked = ids[7] as string;
        const locker = await place.beside();
        await locker.query("BEGIN");
        await locker.query(`SELECT id FROM sluice_waiting WHERE id = '${locked}' FOR UPDATE`);
        await sluice.worker({ slots: 2 });
        await Promise.all(ids.filter((id) => id !== locked).map((id) => sluice.ended(id)));
        expect((await sluice.get(locked))?.state).toBe("waiting");
        await locker.query("ROLLBACK");
        expect((await sluice.ended(locked)).state).toBe("succeeded");
      } finally {
        await place.close();
      }
    });
  });
}
