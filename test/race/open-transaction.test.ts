// A row of an open transaction may have a lower number than rows that others have committed since. A reader
// deletes exactly the rows it has read, so the others are still there when they are committed.

import { expect, onTestFinished, test } from "vitest";
import { laneOf } from "../../src/store/lane.ts";
import { advance, claimsOfRuns, leaveNews, letIn, newRun } from "../runs/support/coordinating.ts";
import { stoppable } from "./barrier.ts";
import { describeOn, IDLE, newTask, placeOf, scopeOf, untilWaitingOrOver } from "./support.ts";

const lane = (task: string) => laneOf("race", task, [{ gate: "queue:race", slots: 1 }]);

for (const name of ["PostgreSQL", "MariaDB"] as const) {
  describeOn(name, () => {
    const both = async () => {
      const place = await placeOf(name);
      onTestFinished(() => place.close());
      const store = await place.open();
      const [early, late] = [await stoppable(place, 1), await stoppable(place, 2)];
      return { store, early, late, aside: await place.beside() };
    };

    test("a task enqueued in an open transaction is found once that is committed, whatever was taken in meanwhile", async () => {
      const { store, early, late, aside } = await both();
      const open = await early.stop({ behind: /INSERT INTO sluice_arrival/ });
      const enqueued = early.store.enqueue([newTask("first", { lane: lane("first"), name: "first" })]);
      await open.there;
      await store.enqueue([newTask("second", { lane: lane("second"), name: "second" })]);
      // The pass has read the arrivals, and has not deleted them yet.
      const clearing = await late.stop({ before: /DELETE FROM sluice_arrival/ });
      const pass = late.store.pass(scopeOf({ intake: true }), () => IDLE);
      await clearing.there;
      await open.goOn();
      await enqueued;
      await clearing.goOn();
      await untilWaitingOrOver(name, aside, pass);
      expect((await pass).arrived.map(({ task }) => task)).toEqual(["second"]);
      const next = await store.pass(scopeOf({ intake: true }), () => IDLE);
      expect(next.arrived.map(({ task }) => task)).toEqual(["first"]);
    });

    test("news left in an open transaction is read once that is committed, whatever was read meanwhile", async () => {
      const { store, early, late, aside } = await both();
      await store.submit([newRun("r1"), newRun("r2")]);
      expect((await letIn(claimsOfRuns(store))).sort()).toEqual(["r1", "r2"]);
      await advance(store, () => ({}));
      const open = await early.stop({ behind: /INSERT INTO sluice_news/ });
      const first = leaveNews(early.store, "r1");
      await open.there;
      await leaveNews(store, "r2");
      const clearing = await late.stop({ before: /DELETE FROM sluice_news/ });
      const seen: string[] = [];
      const look = (run: { id: string }) => {
        seen.push(run.id);
        return {};
      };
      const reading = advance(late.store, look);
      await clearing.there;
      await open.goOn();
      await first;
      await clearing.goOn();
      await untilWaitingOrOver(name, aside, reading);
      await reading;
      expect(seen).toEqual(["r2"]);
      await advance(store, look);
      expect(seen).toEqual(["r2", "r1"]);
    });
  });
}
