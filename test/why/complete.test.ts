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
  freshMariadb,
  freshPostgres,
  freshSqlite,
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
  // The clock has moved on since the reasons were read, so a delay now ends later.
  const view = await world.store.wait(id);
  const fresh = view ? reasonsOf(view) : [];
  const same = gone.map((reason) => (reason.kind === "later" ? later(fresh) : reason));
  await world.cure(id, same);
  return world.starts(id);
}

const later = (reasons: readonly Reason[]): Reason => reasons.find(({ kind }) => kind === "later") as Reason;

async function isComplete(place: Place, shape: Shape, which: number): Promise<readonly Reason[]> {
  const world = await World.of(await place.store(), place.clock, shape);
  const id = world.ids[which % world.ids.length] as string;
  const view = await world.store.wait(id);
  if (!view || (view.task.state !== "waiting" && view.task.state !== "later")) return [];
  // By then, units before it have started or wait ahead of it, which is a question about another moment.
  if (view.task.state === "later" && (await world.isLaterThanOthers(view.task))) return [];
  const reasons = reasonsOf(view);
  const said = JSON.stringify({ id, reasons });
  expect(await startsWithout(place, shape, id, reasons), `without all of it: ${said}`).toBe(true);
  for (const part of partsOf(reasons))
    expect(
      await startsWithout(place, shape, id, part),
      `without a part, ${JSON.stringify(part)}, of ${said}`,
    ).toBe(false);
  return reasons;
}

function property(name: string, place: () => Promise<Place>, numRuns: number, timeout: number): void {
  test(
    `${name}: what is named is complete and minimal`,
    async () => {
      const at = await place();
      const told = new Map<string, number>();
      await fc.assert(
        fc.asyncProperty(shapes, fc.nat(20), async (shape, which) => {
          const reasons = await isComplete(at, shape, which);
          for (const { kind } of reasons) told.set(kind, (told.get(kind) ?? 0) + 1);
          told.set(`${reasons.length}`, (told.get(`${reasons.length}`) ?? 0) + 1);
        }),
        { numRuns },
      );
      if (numRuns < 100) return;
      for (const seen of ["full", "behind", "paused", "later", "busy", "noWorker", "1", "2", "3"])
        expect(told.get(seen) ?? 0, seen).toBeGreaterThan(0);
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

property("memory", inMemory, 200, 120_000);

property(
  "SQLite",
  async () => {
    const clock = new FakeClock();
    const path = await freshSqlite();
    return onSql(await openSqlite(path, sqliteTimeOf(clock)), clock, await besideSqlite(path));
  },
  15,
  120_000,
);

describeWithPostgres("on a server", () => {
  property(
    "PostgreSQL",
    async () => {
      const clock = new FakeClock();
      const url = await freshPostgres();
      const store = openPostgres({ url, now: clock.now });
      await store.migrate();
      return onSql(store, clock, await besidePostgres(url));
    },
    5,
    120_000,
  );
});

describeWithMariadb("on a server", () => {
  property(
    "MariaDB",
    async () => {
      const clock = new FakeClock();
      const url = await freshMariadb();
      const store = openMysql({ url, now: clock.now });
      await store.migrate();
      return onSql(store, clock, await besideMariadb(url));
    },
    5,
    120_000,
  );
});
