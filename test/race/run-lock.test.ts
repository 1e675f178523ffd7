// A transaction that advances, cancels or pauses a run locks it exclusively. Two of them meet here: one stops
// with its decision made but not yet written. The other must wait for it, and then see what it wrote.

import { expect, onTestFinished, test } from "vitest";
import type { RunSeen, Store } from "../../src/store/store.ts";
import type { Aside } from "../conformance/tables.ts";
import { advance, claimsOfRuns, leaveNews, letIn, newRun, started } from "../runs/support/coordinating.ts";
import type { Stoppable } from "./barrier.ts";
import { stoppable } from "./barrier.ts";
import type { Place } from "./support.ts";
import { describeOn, IDLE, placeOf, scopeOf, untilWaitingOrOver } from "./support.ts";

/** The flight in which `advance` writes its decision. */
const WRITING = { before: /DELETE FROM sluice_news/ };

for (const name of ["PostgreSQL", "MariaDB"] as const) {
  describeOn(name, () => {
    test("two that move one run on at the same moment do so one after the other: the second sees what the first wrote", async () => {
      const { first, second, aside } = await aRunLetIn(name);
      const stopped = await first.stop(WRITING);
      const one = advance(first.store, () => started("r"));
      await stopped.there;
      await leaveNews(second, "r");
      let seen: RunSeen | undefined;
      const two = advance(second, (run) => {
        seen = run;
        return {};
      });
      await untilWaitingOrOver(name, aside, two);
      await stopped.goOn();
      await Promise.all([one, two]);
      expect([seen?.started, seen?.steps.map((step) => step.name)]).toEqual([true, ["work"]]);
    });

    test("a run that is cancelled while it starts leaves no step behind", async () => {
      const { first, second, aside } = await aRunLetIn(name);
      const stopped = await first.stop(WRITING);
      const start = advance(first.store, () => started("r"));
      await stopped.there;
      const cancel = second.cancelRun("r", "test");
      await untilWaitingOrOver(name, aside, cancel);
      await stopped.goOn();
      expect([await cancel, (await start).enqueued]).toEqual([{ was: "started" }, 1]);
      expect((await second.task("r-step"))?.state).toBe("cancelled");
      expect(await aside.query("SELECT id FROM sluice_waiting")).toEqual([]);
    });

    test("a run that fails while it starts leaves no step behind", async () => {
      const { first, second, aside } = await aRunLetIn(name);
      const stopped = await first.stop(WRITING);
      const start = advance(first.store, () => started("r"));
      await stopped.there;
      const failed = second.failRun("r", '{"message":"too long"}');
      await untilWaitingOrOver(name, aside, failed);
      await stopped.goOn();
      await start;
      expect([await failed, (await second.task("r-step"))?.state]).toEqual([true, "cancelled"]);
    });

    test("a run that is paused while it starts has its gates paused", async () => {
      const { first, second, aside } = await aRunLetIn(name);
      const stopped = await first.stop(WRITING);
      const start = advance(first.store, () => started("r"));
      await stopped.there;
      const paused = second.pauseRun("r", true, "test");
      await untilWaitingOrOver(name, aside, paused);
      await stopped.goOn();
      expect([await paused, (await start).enqueued]).toEqual([true, 1]);
      const gate = (await second.gates()).find(({ key }) => key === "run:r/async");
      expect(gate?.paused).toBe(true);
    });

    test("a run that recovery puts back in line is not started by who read its news before", async () => {
      const { first, second, aside } = await aRunLetIn(name);
      await aside.query("UPDATE sluice_running SET until_at = 1 WHERE id = 'r'");
      // Recovery has locked the claim, but not the run.
      const stopped = await first.stop({ before: /INSERT INTO sluice_waiting/ });
      const recovery = first.store.pass(scopeOf({ exclusive: ["runs"] }), ({ lost }) => ({
        ...IDLE,
        recover: lost.map(({ id, epoch }) => ({ id, epoch, to: "waiting", body: null })),
      }));
      await stopped.there;
      const seen: string[] = [];
      const start = advance(second, (run) => {
        seen.push(run.id);
        return started("r");
      });
      await untilWaitingOrOver(name, aside, start);
      await stopped.goOn();
      await Promise.all([recovery, start]);
      expect([seen, (await second.run("r"))?.run.state]).toEqual([[], "queued"]);
      expect(await aside.query("SELECT id FROM sluice_waiting ORDER BY id")).toEqual([{ id: "r" }]);
    });
  });
}

/** A run that was admitted and has not started: there is news of it. */
async function aRunLetIn(
  name: Place["name"],
): Promise<{ first: Stoppable; second: Store; aside: Aside; place: Place }> {
  const place = await placeOf(name);
  onTestFinished(() => place.close());
  const second = await place.open();
  const first = await stoppable(place);
  await second.submit([newRun("r")]);
  expect(await letIn(claimsOfRuns(second))).toEqual(["r"]);
  return { first, second, aside: await place.beside(), place };
}
