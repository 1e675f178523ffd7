// A run with many units is cancelled while a worker reports some of them and claims the next. Neither waits for
// the other in a circle, so nobody has to wait until the database notices a deadlock.

import { expect, onTestFinished, test } from "vitest";
import { laneOf } from "../../src/store/lane.ts";
import type { Claimed, Finished } from "../../src/store/store.ts";
import { advance, claimsOfRuns, letIn, newRun, started } from "../runs/support/coordinating.ts";
import type { Stoppable } from "./barrier.ts";
import { stoppable } from "./barrier.ts";
import type { Place } from "./support.ts";
import { describeOn, IDLE, placeOf, scopeOf, untilWaiting, untilWaitingOrOver } from "./support.ts";

const LANE = laneOf("default", "work", [
  { gate: "queue:default", slots: 1 },
  { gate: "run:r/async", slots: 1 },
]);

/** One unit runs, and more wait behind it. `races` counts the transactions that had to be repeated. */
async function aRunWithAList(name: Place["name"], most: number) {
  const place = await placeOf(name);
  onTestFinished(() => place.close());
  let races = 0;
  const sleep = async (): Promise<void> => {
    races += 1;
  };
  const other = await place.open({ sleep });
  const worker = await stoppable(place);
  await other.submit([newRun("r")]);
  await letIn(claimsOfRuns(other));
  const [unit] = started("r").enqueue ?? [];
  if (!unit) throw new Error("a run that starts puts a step in line");
  const enqueue = ["c", "b", "a", "d"].map((id) => ({ ...unit, id: `r-${id}`, lane: LANE }));
  await advance(other, () => ({ ...started("r"), enqueue }));
  await other.openSession({ id: "s1", name: "w", slots: 4, serves: "*", leaseMs: 600_000 });
  // One after the other, so that the rows are not in the order of their IDs.
  const claimed: Claimed[] = [];
  for (const { id } of enqueue.slice(0, most)) claimed.push(...(await claim(worker, [id])));
  return { place, other, worker, aside: await place.beside(), claimed, races: () => races };
}

const pass = (worker: Stoppable, finished: readonly Finished[], ids: readonly string[]) =>
  worker.store.pass(scopeOf({ finished, lanes: [{ ...LANE, want: 4 }], exclusive: ["run:r/async"] }), () => ({
    ...IDLE,
    claim: ids.map((id) => ({ id, held: true })),
  }));

const claim = async (worker: Stoppable, ids: readonly string[]): Promise<readonly Claimed[]> =>
  (await pass(worker, [], ids)).claimed;

const news = { run: "r", failed: null };
const done = ({ id, epoch }: Claimed): Finished => ({
  id,
  epoch,
  to: "succeeded",
  body: "1",
  delayMs: 0,
  news,
});
const again = ({ id, epoch }: Claimed): Finished => ({ id, epoch, to: "retry", body: "1", delayMs: 0, news });

for (const name of ["PostgreSQL", "MariaDB"] as const) {
  describeOn(name, () => {
    test("a pass that has reported a unit of the run does not wait for those that the cancel has locked", async () => {
      const { other, worker, aside, claimed, races } = await aRunWithAList(name, 1);
      const claiming = await worker.stop({ before: /INSERT INTO sluice_running/ });
      const passing = pass(worker, claimed.map(done), ["r-b", "r-a"]);
      await claiming.there;
      const cancel = other.cancelRun("r", "ann");
      await untilWaitingOrOver(name, aside, cancel);
      await claiming.goOn();
      expect(await cancel).toEqual({ was: "started" });
      const { accepted } = await passing;
      // MariaDB notices a deadlock at once, and either of the two is repeated.
      if (name === "PostgreSQL") expect([accepted.size, races()]).toEqual([1, 0]);
      expect(await aside.query("SELECT id FROM sluice_waiting")).toEqual([]);
      expect(await aside.query("SELECT id FROM sluice_running")).toEqual([]);
      expect((await other.run("r"))?.run.state).toBe("cancelled");
    });

    test("a pass that reports several units of the run locks them in the order in which the cancel does", async () => {
      const { other, worker, aside, claimed, races, place } = await aRunWithAList(name, 4);
      const holder = await place.beside();
      await holder.query("BEGIN");
      await holder.query("SELECT id FROM sluice_running WHERE id = 'r-a' FOR UPDATE");
      const cancel = other.cancelRun("r", "ann");
      await untilWaiting(name, aside);
      const passing = pass(
        worker,
        claimed.map((one) => (one.id === "r-c" ? done(one) : again(one))),
        [],
      );
      await untilWaiting(name, aside, 2);
      await holder.query("COMMIT");
      expect(await cancel).toEqual({ was: "started" });
      const { accepted } = await passing;
      if (name === "PostgreSQL") expect([accepted.size, races()]).toEqual([0, 0]);
      expect(await aside.query("SELECT id FROM sluice_waiting")).toEqual([]);
      expect(await aside.query("SELECT id FROM sluice_running")).toEqual([]);
    });
  });
}
