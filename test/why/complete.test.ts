// `why` names exactly what is in the way. On every store, removing all of it starts the unit, and removing a
// part of it does not. Covers tasks, steps, items and runs.

import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import type { Reason } from "../../src/core/gate/reason.ts";
import { reasonsOf } from "../../src/engine/claiming/wait.ts";
import { openMemory } from "../../src/store/memory/index.ts";
import { openMysql } from "../../src/store/mysql/index.ts";
import { openPostgres } from "../../src/store/postgres/index.ts";
import { openSqlite } from "../../src/store/sqlite/index.ts";
import type { Store } from "../../src/store/store.ts";
import { FakeClock, sqliteTimeOf } from "../../src/testing/index.ts";
import type { Aside } from "../conformance/tables.ts";
import { besideMariadb, besidePostgres, besideSqlite, emptyTables } from "../conformance/tables.ts";
import {
  describeWithMariadb,
  describeWithPostgres,
  freshSqlite,
  migratedMariadb,
  migratedPostgres,
} from "../support/databases.ts";
import type { Shape } from "./world.ts";
import { shapes, World } from "./world.ts";

interface Place {
  readonly clock: FakeClock;
  /** Returns an empty store. */
  store(): Promise<Store>;
}

const partsOf = (reasons: readonly Reason[]): Reason[][] =>
  Array.from({ length: 2 ** reasons.length - 1 }, (_, bits) =>
    reasons.filter((_reason, index) => bits & (1 << index)),
  );

/** Builds the same world again, without some of the reasons. */
async function startsWithout(place: Place, shape: Shape, id: string, gone: readonly Reason[]) {
  const world = await World.of(await place.store(), place.clock, shape);
  await world.cure(id, await asOfNow(world, id, gone));
  return world.starts(id);
}

/** The clock has moved on since the reasons were read, so a delay now ends later. */
async function asOfNow(world: World, id: string, reasons: readonly Reason[]): Promise<Reason[]> {
  const view = await world.store.wait(id);
  const fresh = view ? reasonsOf(view) : [];
  return reasons.map((reason) => (reason.kind === "later" ? later(fresh) : reason));
}

const later = (reasons: readonly Reason[]): Reason => reasons.find(({ kind }) => kind === "later") as Reason;

/** A unit of the world and its reasons. Undefined if it does not wait, or if its reasons are about a later moment. */
async function reasonsIn(
  world: World,
  which: number,
): Promise<{ id: string; reasons: readonly Reason[] } | undefined> {
  const id = world.ids[which % world.ids.length] as string;
  const view = await world.store.wait(id);
  if (!view || (view.task.state !== "waiting" && view.task.state !== "later")) return undefined;
  // By then, units before it have started or wait ahead of it, which is a question about another moment.
  if (view.task.state === "later" && (await world.isLaterThanOthers(view.task))) return undefined;
  return { id, reasons: reasonsOf(view) };
}

/** Ending the holders of full gates starts the unit too. It may free other gates as well, so no part is tried. */
async function startsAfterHolders(place: Place, shape: Shape, id: string, full: readonly Full[]) {
  const world = await World.of(await place.store(), place.clock, shape);
  await world.endHolders(
    id,
    full.map(({ gate }) => gate),
  );
  return world.starts(id);
}

/** One by one, in the order that is told, with all that can start in between. */
async function startsInTurn(place: Place, shape: Shape, id: string, reasons: readonly Reason[]) {
  const world = await World.of(await place.store(), place.clock, shape);
  await world.cureInTurn(id, await asOfNow(world, id, reasons));
  return world.starts(id);
}

/** How many answers were tried one by one. */
let inTurn = 0;

type Full = Extract<Reason, { kind: "full" }>;
const isFull = (reason: Reason): reason is Full => reason.kind === "full";

async function isComplete(place: Place, shape: Shape, which: number): Promise<readonly Reason[]> {
  const found = await reasonsIn(await World.of(await place.store(), place.clock, shape), which);
  if (!found) return [];
  const { id, reasons } = found;
  const said = JSON.stringify({ id, reasons });
  expect(await startsWithout(place, shape, id, reasons), `without all of it: ${said}`).toBe(true);
  const full = reasons.filter(isFull);
  if (full.length === reasons.length && full.length > 0)
    expect(await startsAfterHolders(place, shape, id, full), `after its holders: ${said}`).toBe(true);
  if (reasons.length > 1 && !reasons.some(({ contested }) => contested)) {
    expect(await startsInTurn(place, shape, id, reasons), `one by one: ${said}`).toBe(true);
    inTurn += 1;
  }
  for (const part of partsOf(reasons))
    expect(
      await startsWithout(place, shape, id, part),
      `without a part, ${JSON.stringify(part)}, of ${said}`,
    ).toBe(false);
  return reasons;
}

const WANTED = ["full", "behind", "paused", "later", "busy", "noWorker", "1", "2", "3"];

/** The words under which an answer counts: the kinds of its reasons, and how many there are. */
const wordsOf = (reasons: readonly Reason[]): string[] => [
  ...new Set([...reasons.map(({ kind }) => kind), `${reasons.length}`]),
];

/**
 * Worlds that together have every kind of reason. A server is too slow for hundreds of worlds, so memory says
 * which of them are worth it.
 */
async function telling(): Promise<(readonly [Shape, number])[]> {
  const chosen: (readonly [Shape, number])[] = [];
  const missing = new Set(WANTED);
  const place = await inMemory();
  for (const [shape, which] of fc.sample(fc.tuple(shapes, fc.nat(20)), 2_000)) {
    const reasons = await reasonsIn(await World.of(await place.store(), place.clock, shape), which);
    const fresh = wordsOf(reasons?.reasons ?? []).filter((word) => missing.delete(word));
    if (fresh.length > 0) chosen.push([shape, which]);
    if (missing.size === 0) return chosen;
  }
  throw new Error(`no world has ${[...missing]}`);
}

function everyKind(name: string, place: () => Promise<Place>, timeout: number): void {
  test(
    `${name}: what is named is complete and minimal, for every kind of reason`,
    async () => {
      const at = await place();
      const told = new Set<string>();
      for (const [shape, which] of await telling())
        for (const word of wordsOf(await isComplete(at, shape, which))) told.add(word);
      expect(WANTED.filter((word) => !told.has(word))).toEqual([]);
    },
    timeout,
  );
}

const plain = { kind: "task", queue: "q", pool: 0, mutex: false, tag: 0, priority: 0 } as const;

/** The item has been overtaken for a minute when the last task's delay ends, and reserves slots of the pool. */
const RESERVED_BY_THEN: Shape = {
  limits: {
    cluster: -1,
    "queue:q": -1,
    "queue:r": -1,
    "pool:gpu": 2,
    "pool:db": 2,
    runs: 1,
    "tag:tenant=*": 1,
    "run:up/async": -1,
    "run:up/items/s": 1,
  },
  workers: [
    { slots: 1, queues: ["q", "r"] },
    { slots: 1, queues: ["q", "r"] },
  ],
  first: [
    { ...plain, kind: "item" },
    { ...plain, pool: 2 },
  ],
  meanwhile: {},
  pausesQueue: false,
  pausesRun: false,
  second: [{ ...plain, kind: "item", pool: 2 }, plain, plain, { ...plain, pool: 1 }],
  delays: 2,
};

/** The unit asks for both pools, and others wait for the second one only. */
const SECOND_POOL_LAST: Shape = {
  ...RESERVED_BY_THEN,
  limits: { ...RESERVED_BY_THEN.limits, "pool:gpu": 1 },
  workers: [{ slots: 30, queues: ["q", "r"] }],
  first: [
    { ...plain, db: 1 },
    { ...plain, db: 1 },
  ],
  meanwhile: { "pool:gpu": 0 },
  second: [
    { ...plain, pool: 1, db: 2 },
    { ...plain, db: 1 },
    { ...plain, db: 1 },
  ],
  delays: 0,
};

/** Others wait for each of the two pools, so no order is sure. While the queue is paused, each is. */
const EACH_POOL_WANTED: Shape = {
  ...SECOND_POOL_LAST,
  second: [...SECOND_POOL_LAST.second, { ...plain, pool: 1 }],
};

function oneByOne(name: string, place: () => Promise<Place>): void {
  const reasonsAt = async (at: Place, shape: Shape) => {
    const found = await reasonsIn(await World.of(await at.store(), at.clock, shape), 2);
    return found?.reasons ?? [];
  };
  const keysOf = (reasons: readonly Reason[]) => reasons.map((reason) => "gate" in reason && reason.gate);

  test(`${name}: a gate that only the unit wants is opened before one that others want too`, async () => {
    const at = await place();
    const reasons = await reasonsAt(at, SECOND_POOL_LAST);
    expect(keysOf(reasons)).toEqual(["pool:gpu", "pool:db"]);
    expect(reasons.map(({ contested }) => contested)).toEqual([undefined, undefined]);
    expect(await startsInTurn(at, SECOND_POOL_LAST, "b0", reasons)).toBe(true);
    expect(await startsInTurn(at, SECOND_POOL_LAST, "b0", reasons.toReversed())).toBe(false);
  });

  test(`${name}: if no order is sure, that is told, and the queue that has to be paused`, async () => {
    const at = await place();
    const reasons = await reasonsAt(at, EACH_POOL_WANTED);
    expect(reasons.map(({ contested }) => contested)).toEqual([{ pause: "queue:q" }, undefined]);
    for (const order of [reasons, reasons.toReversed()])
      expect(await startsInTurn(at, EACH_POOL_WANTED, "b0", order)).toBe(false);
    const world = await World.of(await at.store(), at.clock, EACH_POOL_WANTED);
    await world.store.changeLimit({ key: "queue:q", to: "paused", by: "test" });
    await world.cureInTurn("b0", reasons);
    expect(await world.starts("b0")).toBe(false);
    await world.store.changeLimit({ key: "queue:q", to: "resumed", by: "test" });
    await world.settle();
    expect(await world.starts("b0")).toBe(true);
  });
}

/** Random worlds. There must be enough of them for every kind of reason. */
function property(name: string, place: () => Promise<Place>, numRuns: number, timeout: number): void {
  test(
    `${name}: what is named is complete and minimal`,
    async () => {
      const at = await place();
      const told = new Set<string>();
      await fc.assert(
        fc.asyncProperty(shapes, fc.nat(20), async (shape, which) => {
          for (const word of wordsOf(await isComplete(at, shape, which))) told.add(word);
        }),
        { numRuns, examples: [[RESERVED_BY_THEN, 5]] },
      );
      expect(WANTED.filter((word) => !told.has(word))).toEqual([]);
      expect(inTurn).toBeGreaterThan(numRuns / 20);
    },
    timeout,
  );
}

const inMemory = async (): Promise<Place> => {
  const clock = new FakeClock();
  return { clock, store: async () => openMemory({ now: clock.now }) };
};

const open: { close(): Promise<unknown> }[] = [];
afterAll(() => Promise.all(open.map((each) => each.close())));

async function onSql(store: Store, clock: FakeClock, aside: Aside): Promise<Place> {
  await store.migrate();
  open.push(store, aside);
  return {
    clock,
    store: async () => {
      await emptyTables(aside);
      return store;
    },
  };
}

async function onSqlite(): Promise<Place> {
  const clock = new FakeClock();
  const path = await freshSqlite();
  return onSql(await openSqlite(path, sqliteTimeOf(clock)), clock, await besideSqlite(path));
}

async function onPostgres(): Promise<Place> {
  const clock = new FakeClock();
  const url = await migratedPostgres();
  return onSql(openPostgres({ url, now: clock.now }), clock, await besidePostgres(url));
}

async function onMariadb(): Promise<Place> {
  const clock = new FakeClock();
  const url = await migratedMariadb();
  return onSql(openMysql({ url, now: clock.now }), clock, await besideMariadb(url));
}

property("memory", inMemory, 200, 120_000);
oneByOne("memory", inMemory);
everyKind("SQLite", onSqlite, 120_000);
oneByOne("SQLite", onSqlite);
describeWithPostgres("on a server", () => {
  everyKind("PostgreSQL", onPostgres, 120_000);
  oneByOne("PostgreSQL", onPostgres);
});
describeWithMariadb("on a server", () => {
  everyKind("MariaDB", onMariadb, 120_000);
  oneByOne("MariaDB", onMariadb);
});
