// The short way through a pass against everything that may happen at the same moment: a change of a limit, a
// pass that parks a lane, a pass that recovers its claims, another swap.

import { expect, onTestFinished, test } from "vitest";
import { laneOf } from "../../src/store/lane.ts";
import type { Claimed, Store, Swap, Swapped } from "../../src/store/store.ts";
import type { Aside } from "../conformance/tables.ts";
import { everything, heardSince } from "../feed/heard.ts";
import type { Stoppable } from "./barrier.ts";
import { stoppable } from "./barrier.ts";
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
  untilWaitingOrOver,
} from "./support.ts";

const GATES = [GATE, "queue:race"];
const BIG = laneOf("race", "big", [{ gate: GATE, slots: 2 }]);
/** Its claims are made by now. */
const CLAIMED = { behind: /INTO sluice_running/ };

interface Race {
  readonly place: Place;
  readonly store: Store;
  /** A second process. Its transactions can be stopped. */
  readonly other: Stoppable;
  readonly observer: Aside;
  /** Claims of "a" and "b". The units "c" to "f" wait behind them. */
  readonly claims: readonly Claimed[];
  swapOf(claims: readonly Claimed[], more?: Partial<Swap>): Swap;
}

async function race(name: Place["name"]): Promise<Race> {
  const place = await placeOf(name);
  onTestFinished(() => place.close());
  const [store, other, observer] = [await place.open(), await stoppable(place), await place.beside()];
  for (const id of ["s1", "s2"])
    await store.openSession({ id, name: id, slots: 4, serves: "{}", leaseMs: 600_000 });
  await limit(store, GATE, 2);
  await store.enqueue(["a", "b", "c", "d", "e", "f"].map((id) => newTask(id)));
  await store.enqueue([newTask("big", { lane: BIG, name: "big" })]);
  await intake(store);
  const claim = ["a", "b"].map((id) => ({ id, held: true }));
  const { claimed } = await store.pass(scopeOf({ exclusive: GATES }), () => ({ ...IDLE, claim }));
  const rule = { paused: false, leaseMs: null } as const;
  const swapOf = (claims: readonly Claimed[], more: Partial<Swap> = {}): Swap => ({
    session: "s1",
    sessions: ["@runs", "s1", "s2"],
    finished: claims.map(({ id, epoch }) => ({ id, epoch, to: "succeeded", body: null, delayMs: 0 })),
    started: [],
    lanes: [{ id: LANE.id, want: claims.length, from: { priority: 0, at: 0, id: "" }, before: null }],
    ahead: [],
    gates: [
      { key: GATE, limit: 2, line: "bypass", ...rule },
      { key: "queue:race", limit: -1, line: "skip", ...rule },
    ],
    parkedOn: GATES,
    claimLeaseMs: 60_000,
    leaseMs: null,
    ...more,
  });
  return { place, store, other, observer, claims: claimed, swapOf };
}

const idsOf = (swapped: Swapped | undefined): string[] => (swapped?.claimed ?? []).map(({ id }) => id);

const heldAt = async (store: Store): Promise<number | undefined> =>
  (await store.gates()).find(({ key }) => key === GATE)?.held;

for (const name of ["PostgreSQL", "MariaDB"] as const) {
  describeOn(name, () => {
    test("a swap waits for a change of a limit that has begun, and then claims nothing", async () => {
      const { place, store, observer, claims, swapOf } = await race(name);
      const operator = await place.beside();
      await operator.query("BEGIN");
      await operator.query(`UPDATE sluice_gate SET capacity = 1 WHERE name = '${GATE}'`);
      const swapping = store.swap(swapOf(claims));
      await untilWaitingOrOver(name, observer, swapping);
      await operator.query("COMMIT");
      expect(idsOf(await swapping)).toEqual([]);
      expect(await heldAt(store)).toBe(0);
    });

    test("a change of a limit waits for a swap that has begun", async () => {
      const { store, other, observer, claims, swapOf } = await race(name);
      const stopped = await other.stop(CLAIMED);
      const swapping = other.store.swap(swapOf(claims));
      await stopped.there;
      const change = limit(store, GATE, 0);
      await untilWaitingOrOver(name, observer, change);
      expect(await endsWithin(50, change)).toBe(false);
      await stopped.goOn();
      await change;
      expect(idsOf(await swapping)).toEqual(["c", "d"]);
    });

    test("a swap waits for a pass that parks a lane on its gate, and then leaves the slots to that lane", async () => {
      const { store, other, observer, claims, swapOf } = await race(name);
      const stopped = await other.stop({ behind: /UPDATE sluice_lane/ });
      const scope = scopeOf({ session: "s2", exclusive: GATES, lanes: [{ id: BIG.id, want: 2 }] });
      const parking = other.store.pass(scope, ({ lanes }) => ({
        ...IDLE,
        lanes: lanes.map(({ id, stamp, mark, blocked }) => {
          return { lane: id, stamp, mark, blocked, state: "parked", parked: GATE, slots: 2, head: null };
        }),
      }));
      await stopped.there;
      const swapping = store.swap(swapOf(claims));
      await untilWaitingOrOver(name, observer, swapping);
      await stopped.goOn();
      await parking;
      expect(idsOf(await swapping)).toEqual([]);
    });

    test("a swap waits for a pass that recovers its claims, and then neither reports nor claims", async () => {
      const { store, other, observer, claims, swapOf } = await race(name);
      await observer.query("UPDATE sluice_running SET until_at = 1");
      const stopped = await other.stop({ behind: /INTO sluice_waiting/ });
      const recovering = other.store.pass(scopeOf({ session: "s2", exclusive: GATES }), ({ lost }) => ({
        ...IDLE,
        recover: lost.map(({ id, epoch }) => ({ id, epoch, to: "waiting", body: null })),
      }));
      await stopped.there;
      const swapping = store.swap(swapOf(claims));
      await untilWaiting(name, observer);
      await stopped.goOn();
      await recovering;
      expect(idsOf(await swapping)).toEqual([]);
      expect([(await store.task("a"))?.state, await heldAt(store)]).toEqual(["waiting", 0]);
    });

    test("a new listener of the feed waits for a swap that has not seen it, and hears of everything later", async () => {
      const { store, other, claims, swapOf } = await race(name);
      const stopped = await other.stop(CLAIMED);
      const unheard = other.store.swap(swapOf(claims.slice(0, 1)));
      await stopped.there;
      const following = store.follow([everything("l")]);
      expect(await endsWithin(300, following)).toBe(false);
      await stopped.goOn();
      expect(idsOf(await unheard)).toEqual(["c"]);
      const since = await following;
      const swap = swapOf(claims.slice(1));
      // A store may leave it to a whole pass to tell the listener.
      if (!(await store.swap(swap))) await store.pass(scopeOf({ finished: swap.finished }), () => IDLE);
      const ended = (await heardSince(store, "l", since)).filter(({ kind }) => kind === "TaskSucceeded");
      expect(ended.map(({ subject }) => subject)).toEqual(["b"]);
    });

    test("two swaps at once do not wait for each other, and share the line", async () => {
      const { store, other, claims, swapOf } = await race(name);
      const [a, b] = claims as readonly [Claimed, Claimed];
      const stopped = await other.stop(CLAIMED);
      const first = other.store.swap(swapOf([a]));
      await stopped.there;
      const second = store.swap(swapOf([b]));
      expect(await endsWithin(10_000, second)).toBe(true);
      await stopped.goOn();
      expect([idsOf(await first), idsOf(await second)]).toEqual([["c"], ["d"]]);
      expect(await heldAt(store)).toBe(2);
    });

    test("the same report twice at once frees its slots once", async () => {
      const { store, other, observer, claims, swapOf } = await race(name);
      const stopped = await other.stop(CLAIMED);
      const first = other.store.swap(swapOf(claims));
      await stopped.there;
      const second = store.swap(swapOf(claims));
      await untilWaiting(name, observer);
      await stopped.goOn();
      expect([idsOf(await first), idsOf(await second)]).toEqual([["c", "d"], []]);
      expect(await heldAt(store)).toBe(2);
    });

    test("the same report twice at once starts claims made ahead once", async () => {
      const { store, other, observer, claims, swapOf } = await race(name);
      const early = ["c", "d", "e", "f"].map((id) => ({ id, held: false }));
      const { claimed } = await store.pass(scopeOf({ exclusive: GATES }), () => ({ ...IDLE, claim: early }));
      const startsOf = (some: readonly Claimed[]) =>
        swapOf(claims, { lanes: [], ahead: some.map(({ id, epoch, lane }) => ({ id, epoch, lane })) });
      const stopped = await other.stop({ behind: /UPDATE sluice_running/ });
      const first = other.store.swap(startsOf(claimed.slice(0, 2)));
      await stopped.there;
      const second = store.swap(startsOf(claimed.slice(2)));
      await untilWaiting(name, observer);
      await stopped.goOn();
      expect([[...((await first)?.started ?? [])].sort(), (await second)?.started ?? []]).toEqual([
        ["c", "d"],
        [],
      ]);
      expect(await heldAt(store)).toBe(2);
    });
  });
}
