// A lane parks on a full gate at the very moment in which the gate is freed, by a report that does not lock
// it. The process that frees it looks for parked lanes afterwards. If it looks too early, no process ever
// looks again.

import { expect, test } from "vitest";
import type { Moves, Scope, Store } from "../../src/store/store.ts";
import type { Place } from "./support.ts";
import {
  describeOn,
  endsWithin,
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

const GATES = [GATE, "queue:race"];

/** The pass of a claimer that sees the gate full. */
const park: Scope = scopeOf({ lanes: [{ id: LANE.id, want: 5 }], exclusive: GATES });
/** The look of a process that has just freed something. */
const lookForParked: Scope = scopeOf({ session: "s2", exclusive: GATES, parkedOn: [GATE], queues: ["race"] });

interface Race {
  readonly store: Store;
  readonly parking: Promise<unknown>;
  /** The parked lanes that the look was shown. */
  readonly looked: Promise<readonly string[]>;
  /** Whether the look had to wait for the pass that parks. */
  readonly lookWaited: boolean;
  letGo(): Promise<void>;
}

/**
 * The pass that parks is held up between its look and its write, by a connection that holds the lane's row.
 * Meanwhile the gate is freed and looked at. `parkingScope` says which locks the pass takes: all of ours, or
 * none.
 */
async function race(place: Place, parkingScope: Scope): Promise<Race> {
  const store = await place.open();
  const [lane, observer] = await Promise.all([place.beside(), place.beside()]);
  for (const id of ["s1", "s2"])
    await store.openSession({ id, name: id, slots: 4, serves: "{}", leaseMs: 600_000 });
  await limit(store, GATE, 1);
  await store.enqueue([newTask("holds"), newTask("waits")]);
  await intake(store);
  const held = await store.pass(scopeOf({ exclusive: GATES }), () => ({
    ...IDLE,
    claim: [{ id: "holds", held: true }],
  }));
  const epoch = held.claimed[0]?.epoch ?? 0;

  await lane.query("BEGIN");
  await lane.query(`SELECT * FROM sluice_lane WHERE id = '${LANE.id}' FOR UPDATE`);
  const parking = store.pass(parkingScope, ({ usage, lanes }): Moves => {
    expect(usage).toMatchObject([{ units: 1, held: true, lost: false }]);
    return {
      ...IDLE,
      lanes: lanes.map(({ id, stamp }) => ({
        lane: id,
        stamp,
        state: "parked",
        parked: GATE,
        mark: null,
        blocked: `["${GATE}"]`,
        head: null,
      })),
    };
  });
  await untilWaiting(place.name, observer);
  const end = { id: "holds", epoch, to: "succeeded", body: null, delayMs: 0 } as const;
  await store.pass(scopeOf({ finished: [end] }), () => IDLE);
  let seen: readonly string[] = [];
  const looked = store
    .pass(lookForParked, ({ parked = [], usage }): Moves => {
      expect(usage).toEqual([]);
      seen = parked.map(({ id }) => id);
      return IDLE;
    })
    .then(() => seen);
  const lookWaited = !(await endsWithin(300, looked));
  return {
    store,
    parking,
    looked,
    lookWaited,
    letGo: async () => {
      await lane.query("COMMIT");
    },
  };
}

for (const name of ["PostgreSQL", "MariaDB"] as const) {
  describeOn(name, () => {
    test("a lane that parks without the gate's lock is stuck: the gate is free, and nobody saw it parked", async () => {
      const place = await placeOf(name);
      try {
        const { store, parking, looked, lookWaited, letGo } = await race(place, { ...park, exclusive: [] });
        expect(lookWaited).toBe(false);
        expect(await looked).toEqual([]);
        await letGo();
        await parking;
        expect((await store.tend()).parkedOn).toEqual([GATE]);
        expect((await store.gates()).find(({ key }) => key === GATE)).toMatchObject({ held: 0, limit: 1 });
        expect((await store.task("waits"))?.state).toBe("waiting");
      } finally {
        await place.close();
      }
    });

    test("a lane that parks under the gate's lock is found by the look that follows the release", async () => {
      const place = await placeOf(name);
      try {
        const { parking, looked, lookWaited, letGo } = await race(place, park);
        expect(lookWaited).toBe(true);
        await letGo();
        await parking;
        expect(await looked).toEqual([LANE.id]);
      } finally {
        await place.close();
      }
    });
  });
}
