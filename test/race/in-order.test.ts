// A statement locks its rows in one order, whatever their order in the table and whatever plan is chosen. The
// test holds the middle row: the row before it is locked by then, the row after it is not.

import { expect, onTestFinished, test } from "vitest";
import type { Store } from "../../src/store/store.ts";
import type { Aside } from "../conformance/tables.ts";
import { advance, claimsOfRuns, letIn, newRun } from "../runs/support/coordinating.ts";
import type { Place } from "./support.ts";
import { describeOn, IDLE, limit, newTask, placeOf, scopeOf, untilWaitingOrOver } from "./support.ts";

for (const name of ["PostgreSQL", "MariaDB"] as const) {
  describeOn(name, () => {
    test("a pass locks its gates by name", async () => {
      const { store, holder, observer, aside } = await unlucky(name);
      const gates = ["pool:a", "pool:b", "pool:c"];
      for (const gate of gates.toReversed()) await limit(store, gate, 5);
      const work = () => store.pass(scopeOf({ exclusive: gates }), () => IDLE);
      expect(
        await lockedBefore(name, { holder, observer, aside }, "sluice_gate", "name", gates, work),
      ).toEqual(["pool:a"]);
    });

    test("a pass locks its gates by name, whether it shares them or not", async () => {
      const { store, holder, observer, aside } = await unlucky(name);
      const gates = ["pool:a", "pool:b", "pool:c"];
      for (const gate of gates.toReversed()) await limit(store, gate, 5);
      const scope = scopeOf({ exclusive: ["pool:a", "pool:c"], shared: ["pool:b"] });
      const work = () => store.pass(scope, () => IDLE);
      expect(
        await lockedBefore(name, { holder, observer, aside }, "sluice_gate", "name", gates, work),
      ).toEqual(["pool:a"]);
    });

    test("whoever moves runs on locks them by id", async () => {
      const { store, holder, observer, aside } = await unlucky(name);
      const runs = ["r1", "r2", "r3"];
      for (const run of runs.toReversed()) await store.submit([newRun(run)]);
      expect((await letIn(claimsOfRuns(store))).sort()).toEqual(runs);
      const work = () => advance(store, () => ({}));
      expect(await lockedBefore(name, { holder, observer, aside }, "sluice_run", "id", runs, work)).toEqual([
        "r1",
      ]);
    });

    // InnoDB locks rows as it finds them and sorts them afterwards, and finds few claims by their epochs. No
    // transaction waits there for one claim while it holds another: `advance` has locked the runs, and
    // recovery skips claims that others have locked.
    test.skipIf(name === "MariaDB")("whoever moves runs on locks their claims by id", async () => {
      const { store, holder, observer, aside } = await unlucky(name);
      const runs = ["r1", "r2", "r3"];
      for (const run of runs.toReversed()) {
        await store.submit([newRun(run)]);
        await letIn(claimsOfRuns(store));
      }
      const work = () => advance(store, () => ({}));
      expect(
        await lockedBefore(name, { holder, observer, aside }, "sluice_running", "id", runs, work),
      ).toEqual(["r1"]);
    });

    test("a pass locks the lanes it changes by id", async () => {
      const { store, holder, observer, aside } = await unlucky(name);
      const lanes = ["a", "b", "c"].map((id) => ({ id: `lane-${id}`, queue: "race", task: id, asks: "[]" }));
      for (const lane of lanes.toReversed()) {
        await store.enqueue([newTask(lane.task, { lane, name: lane.task })]);
        await store.pass(scopeOf({ intake: true }), () => IDLE);
      }
      for (const lane of lanes) await store.enqueue([newTask(`${lane.task}2`, { lane, name: lane.task })]);
      const ids = lanes.map(({ id }) => id);
      const work = () => store.pass(scopeOf({ intake: true }), () => IDLE);
      expect(await lockedBefore(name, { holder, observer, aside }, "sluice_lane", "id", ids, work)).toEqual([
        "lane-a",
      ]);
    });
  });
}

interface Hands {
  readonly holder: Aside;
  readonly observer: Aside;
  readonly aside: Aside;
}

/** Which of the other two rows the work has locked while the test holds the second. */
async function lockedBefore(
  name: Place["name"],
  { holder, observer, aside }: Hands,
  table: string,
  column: string,
  keys: readonly string[],
  work: () => Promise<unknown>,
): Promise<string[]> {
  await holder.query("BEGIN");
  await holder.query(`SELECT 1 FROM ${table} WHERE ${column} = '${keys[1]}' FOR UPDATE`);
  const working = work();
  await untilWaitingOrOver(name, observer, working);
  const locked: string[] = [];
  for (const key of [keys[0], keys[2]] as string[]) {
    await aside.query("BEGIN");
    await aside.query(`SELECT 1 FROM ${table} WHERE ${column} = '${key}' FOR UPDATE NOWAIT`).catch(() => {
      locked.push(key);
    });
    await aside.query("ROLLBACK");
  }
  await holder.query("ROLLBACK");
  await working;
  return locked;
}

/** These settings only make the planner choose a plan that it may choose at any time. */
async function unlucky(name: Place["name"]): Promise<Hands & { store: Store }> {
  const place = await placeOf(name);
  onTestFinished(() => place.close());
  const [holder, observer, aside] = [await place.beside(), await place.beside(), await place.beside()];
  if (name === "PostgreSQL") {
    const database = (await aside.query("SELECT current_database() AS name"))[0]?.name;
    for (const setting of ["enable_indexscan", "enable_indexonlyscan"])
      await aside.query(`ALTER DATABASE ${database} SET ${setting} = off`);
  }
  return { store: await place.open(), holder, observer, aside };
}
