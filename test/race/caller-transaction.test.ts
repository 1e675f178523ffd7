// A caller enqueues inside its own transaction and leaves it open. No other process may have to wait for it,
// even if the caller was the first ever to name a gate.

import pg from "pg";
import { expect, test } from "vitest";
import { laneOf } from "../../src/store/lane.ts";
import type { Store } from "../../src/store/store.ts";
import { GRAPH, newRun } from "../../src/testing/store-suite/run-bench.ts";
import { everything } from "../feed/heard.ts";
import {
  Claimer,
  describeOn,
  endsWithin,
  intake,
  limit,
  newTask,
  placeOf,
  SEAT,
  untilWaiting,
} from "./support.ts";

const NEW = "pool:never-seen";
const lane = laneOf("race", "run", [
  { gate: NEW, slots: 1 },
  { gate: "queue:race", slots: 1 },
]);
/** A blocked process stays blocked until the caller commits, so this bound only ends a failed test. */
const LONG = 10_000;

const WAITING =
  "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

describeOn("PostgreSQL", () => {
  test("INSERT of the gate in the caller's transaction holds up everybody who names it", async () => {
    const place = await placeOf("PostgreSQL");
    try {
      await place.open();
      const [caller, other, observer] = await Promise.all([place.beside(), place.beside(), place.beside()]);
      const insert = `INSERT INTO sluice_gate (name, line) VALUES ('${NEW}', 'bypass') ON CONFLICT DO NOTHING`;
      await caller.query("BEGIN");
      await caller.query(insert);
      const blocked = other.query(insert);
      await untilWaiting("PostgreSQL", observer);
      expect(await endsWithin(500, blocked)).toBe(false);
      await caller.query("ROLLBACK");
      await blocked;
    } finally {
      await place.close();
    }
  });

  test("an enqueue that waits for the caller's key holds up no other enqueue, with a key or without", async () => {
    const place = await placeOf("PostgreSQL");
    const caller = new pg.Client({ connectionString: place.where });
    await caller.connect();
    try {
      const store = await place.open();
      const observer = await place.beside();
      await caller.query("BEGIN");
      await store.enqueue([newTask("mine", { lane, key: "k" })], caller);
      const twin = (id: string) => store.enqueue([newTask(id, { lane, key: "k" })]);
      const twins = [twin("twin")];
      await untilWaiting("PostgreSQL", observer);
      twins.push(twin("second twin"));
      const others = Promise.all([
        ...["a", "b", "c"].map((id) => store.enqueue([newTask(id, { lane })])),
        store.enqueue([newTask("d", { lane, key: "another" })]),
      ]);
      expect(await endsWithin(LONG, others)).toBe(true);
      await caller.query("COMMIT");
      expect((await Promise.all(twins)).flat()).toEqual([
        { id: "mine", created: false },
        { id: "mine", created: false },
      ]);
    } finally {
      await caller.end();
      await place.close();
    }
  });

  test("many enqueues that wait for the caller's keys leave connections to all other calls", async () => {
    const place = await placeOf("PostgreSQL");
    const caller = new pg.Client({ connectionString: place.where });
    await caller.connect();
    try {
      const store = await place.open();
      await limit(store, NEW, 5);
      const [observer, again] = [await place.beside(), await place.beside()];
      const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
      await caller.query("BEGIN");
      await store.enqueue(
        keys.map((key) => newTask(key, { lane, key })),
        caller,
      );
      const twins = keys.map((key) => store.enqueue([newTask(`twin ${key}`, { lane, key })]));
      const waiting = async (): Promise<number> => (await again.query(WAITING)).length;
      await untilWaiting("PostgreSQL", observer, 3);
      const claimer = await Claimer.open(store, "s");
      await store.enqueue([newTask("other", { lane })]);
      await store.follow([everything("l")]);
      expect((await claimer.take()) + (await claimer.take())).toBe(1);
      expect(await store.tasksById(["other"])).toHaveLength(1);
      expect(await waiting()).toBeLessThanOrEqual(3);
      await caller.query("COMMIT");
      expect((await Promise.all(twins)).flat().map(({ id }) => id)).toEqual(keys);
    } finally {
      await caller.end();
      await place.close();
    }
  });

  test("our enqueue of a new gate in the caller's transaction holds up neither enqueues nor passes", async () => {
    const place = await placeOf("PostgreSQL");
    const caller = new pg.Client({ connectionString: place.where });
    await caller.connect();
    try {
      const store = await place.open();
      await caller.query("BEGIN");
      await store.enqueue([newTask("mine", { lane })], caller);

      const others = async (): Promise<number> => {
        await store.enqueue([newTask("theirs", { lane })]);
        await intake(store);
        await limit(store, NEW, 5);
        return claimed(store);
      };
      const work = others();
      expect(await endsWithin(LONG, work)).toBe(true);
      expect(await work).toBe(1);
      expect((await store.task("mine"))?.state).toBeUndefined();

      await caller.query("COMMIT");
      expect((await store.task("mine"))?.state).toBe("waiting");
      expect(await claimed(store)).toBe(1);
    } finally {
      await caller.end();
      await place.close();
    }
  });

  test("our submit of a new graph in the caller's transaction holds up no other submit of it", async () => {
    const place = await placeOf("PostgreSQL");
    const caller = new pg.Client({ connectionString: place.where });
    await caller.connect();
    try {
      const store = await place.open();
      // The strictest isolation that callers use: rows stored after their first read must do no harm.
      await caller.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
      await caller.query("SELECT 1 FROM sluice_task");
      expect(await store.submit([newRun("mine")], caller)).toEqual([{ id: "mine", created: true }]);
      const theirs = store.submit([newRun("theirs")]);
      expect(await endsWithin(LONG, theirs)).toBe(true);
      expect(await theirs).toEqual([{ id: "theirs", created: true }]);
      expect(await store.run("mine")).toBeUndefined();
      await caller.query("COMMIT");
      for (const id of ["mine", "theirs"]) expect((await store.run(id))?.graph).toBe(GRAPH);
    } finally {
      await caller.end();
      await place.close();
    }
  });

  test("what is left of a submit that was rolled back is its graph, for the next run", async () => {
    const place = await placeOf("PostgreSQL");
    const caller = new pg.Client({ connectionString: place.where });
    await caller.connect();
    try {
      const store = await place.open();
      await caller.query("BEGIN");
      await store.submit([newRun("gone")], caller);
      await caller.query("ROLLBACK");
      expect(await store.run("gone")).toBeUndefined();
      expect(await store.runs({ limit: 5 })).toEqual([]);
      await caller.query("BEGIN");
      await store.submit([newRun("next")], caller);
      await caller.query("COMMIT");
      expect((await store.run("next"))?.graph).toBe(GRAPH);
    } finally {
      await caller.end();
      await place.close();
    }
  });

  test("what the caller rolls back was never there", async () => {
    const place = await placeOf("PostgreSQL");
    const caller = new pg.Client({ connectionString: place.where });
    await caller.connect();
    try {
      const store = await place.open();
      await caller.query("BEGIN");
      await store.enqueue(
        [newTask("a", { lane, key: "k", goodForMs: 5 }), newTask("b", { lane, delayMs: 5 })],
        caller,
      );
      await caller.query("ROLLBACK");
      expect(await store.tasks({ limit: 5 })).toEqual([]);
      expect(await store.queues()).toEqual([]);
      expect(await store.enqueue([newTask("c", { lane, key: "k" })])).toEqual([{ id: "c", created: true }]);
    } finally {
      await caller.end();
      await place.close();
    }
  });
});

let sessions = 0;

/** What a new claimer gets that looks as often as a worker would. */
async function claimed(store: Store): Promise<number> {
  sessions += 1;
  const claimer = await Claimer.open(store, `session-${sessions}`, { ...SEAT, slots: 1 });
  let granted = 0;
  for (let look = 0; look < 5 && granted === 0; look += 1) granted += await claimer.take();
  return granted;
}
