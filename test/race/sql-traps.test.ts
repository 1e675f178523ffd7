// Three ways in which SQL that looks right spends a limit twice. Each is shown to go wrong on our own tables,
// so that we know the test would notice. Then our own pass is put in the same situation.

import { afterEach, beforeEach, expect, test } from "vitest";
import type { Store } from "../../src/store/store.ts";
import type { Aside } from "../conformance/tables.ts";
import type { Place } from "./support.ts";
import {
  Claimer,
  describeOn,
  GATE,
  IDLE,
  intake,
  LANE,
  limit,
  newTask,
  placeOf,
  scopeOf,
  untilWaiting,
} from "./support.ts";

/** A claim written by hand: a waiting unit becomes a running one if `condition` allows it. */
const claimBySql = (id: string, condition: string): string =>
  `INSERT INTO sluice_running (id, lane, session, held, claimed_at, claimed_n, precedence, at, attempt, losses, n)
   SELECT w.id, w.lane, 'by hand', 1, 0, 2, w.precedence, w.at, 1, 0, 2 FROM sluice_waiting w WHERE w.id = '${id}' AND ${condition}`;

const SESSION = `INSERT INTO sluice_session (id, name, slots, serves, expires_at, started_at)
  VALUES ('by hand', 'by hand', 9, '{"queues":[],"tasks":[]}', 9000000000000, 0)`;

describeOn("PostgreSQL", () => {
  let place: Place;
  let store: Store;
  let one: Aside;
  let two: Aside;
  let observer: Aside;

  beforeEach(async () => {
    place = await placeOf("PostgreSQL");
    store = await place.open();
    [one, two, observer] = await Promise.all([place.beside(), place.beside(), place.beside()]);
    await observer.query(SESSION);
  });
  afterEach(() => place.close());

  const waiting = async (count: number, slots: number): Promise<void> => {
    await limit(store, GATE, slots);
    await store.enqueue(Array.from({ length: count }, (_, index) => newTask(`t${index}`)));
    await intake(store);
  };
  const running = async (): Promise<number> =>
    Number((await observer.query("SELECT count(*) AS n FROM sluice_running"))[0]?.n);

  const byHand = async (aside: Aside, id: string): Promise<void> => {
    await aside.query(claimBySql(id, "true"));
    await aside.query(`DELETE FROM sluice_waiting WHERE id = '${id}'`);
  };

  test("F9: counting in the statement that waits for the lock goes over the limit; our pass counts later", async () => {
    await waiting(3, 1);
    const lock = `SELECT capacity FROM sluice_gate WHERE name = '${GATE}' FOR NO KEY UPDATE`;
    await one.query("BEGIN");
    await one.query(lock);
    await byHand(one, "t0");
    const wrong = two.query(
      `WITH gate AS MATERIALIZED (${lock}) ${claimBySql("t1", "(SELECT count(*) FROM sluice_running) < (SELECT capacity FROM gate)")}`,
    );
    await untilWaiting("PostgreSQL", observer);
    await one.query("COMMIT");
    await wrong;
    expect(await running()).toBe(2);

    await observer.query("DELETE FROM sluice_running WHERE id = 't1'");
    await observer.query("DELETE FROM sluice_waiting WHERE id IN ('t0', 't1')");
    await observer.query("DELETE FROM sluice_running");
    await store.enqueue([newTask("u0")]);
    const ours = await Claimer.open(store, "ours");
    await limit(store, GATE, 0);
    await ours.take();
    await limit(store, GATE, 1);
    await one.query("BEGIN");
    await one.query(lock);
    await byHand(one, "u0");
    const granted = ours.take();
    await untilWaiting("PostgreSQL", observer);
    await one.query("COMMIT");
    expect(await granted).toBe(0);
    expect(await running()).toBe(1);
    await observer.query("DELETE FROM sluice_running");
    expect(await ours.take()).toBe(1);
  });

  test("F10: a subquery with LIMIT n FOR UPDATE SKIP LOCKED may take more than n; our claim takes those it named", async () => {
    await waiting(12, 9);
    // These settings only make the planner choose a plan that it may choose at any time.
    const name = (await observer.query("SELECT current_database() AS name"))[0]?.name as string;
    const unlucky = [
      "enable_hashjoin",
      "enable_mergejoin",
      "enable_hashagg",
      "enable_material",
      "enable_sort",
      "enable_indexscan",
      "enable_bitmapscan",
      "enable_indexonlyscan",
    ];
    for (const setting of unlucky) await observer.query(`ALTER DATABASE ${name} SET ${setting} = off`);
    const unluckyAside = await place.beside();
    await unluckyAside.query("BEGIN");
    const taken = await unluckyAside.query(
      `DELETE FROM sluice_waiting WHERE id IN
        (SELECT id FROM sluice_waiting WHERE lane = '${LANE.id}' LIMIT 3 FOR UPDATE SKIP LOCKED) RETURNING id`,
    );
    await unluckyAside.query("ROLLBACK");
    expect(taken.length).toBeGreaterThan(3);

    const unluckyStore = await place.open();
    const claim = (skipLocked: boolean) =>
      unluckyStore.pass(
        scopeOf({
          session: "by hand",
          lanes: [{ id: LANE.id, want: 3 }],
          ...(skipLocked ? { shared: [GATE, "queue:race"] } : { exclusive: [GATE, "queue:race"] }),
          sideBySide: skipLocked,
        }),
        ({ heads }) => {
          expect(heads).toHaveLength(3);
          return { ...IDLE, claim: heads.map(({ id }) => ({ id, held: true })) };
        },
      );
    expect((await claim(false)).claimed).toHaveLength(3);
    expect((await claim(true)).claimed).toHaveLength(3);
    expect(await running()).toBe(6);
  });

  test("F11: a limit counted with SKIP LOCKED overlooks what others have in hand; our pass does not", async () => {
    await waiting(4, 2);
    await byHand(observer, "t0");
    await byHand(observer, "t1");
    // A holder writes its progress and has not committed yet.
    await one.query("BEGIN");
    await one.query("UPDATE sluice_running SET progress = '1' WHERE id = 't0'");
    await two.query("BEGIN");
    await two.query(`SELECT 1 FROM sluice_gate WHERE name = '${GATE}' FOR NO KEY UPDATE`);
    await two.query(
      claimBySql(
        "t2",
        "(SELECT count(*) FROM (SELECT 1 FROM sluice_running FOR UPDATE SKIP LOCKED) AS seen) < 2",
      ),
    );
    await two.query("COMMIT");
    expect(await running()).toBe(3);

    await observer.query("DELETE FROM sluice_running WHERE id = 't2'");
    const ours = await Claimer.open(store, "ours");
    for (let look = 0; look < 3; look += 1) expect(await ours.take()).toBe(0);
    await one.query("COMMIT");
    expect(await ours.take()).toBe(0);
    expect(await running()).toBe(2);
  });
});
