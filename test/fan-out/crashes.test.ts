// Coordinators die at the worst moment and news arrives twice: no item exists twice, and no step is stuck.

import { expect, onTestFinished, test } from "vitest";
import { A_BATCH } from "../../src/engine/runs/fan-out.ts";
import type { Reference } from "../../src/index.ts";
import { task, workflow } from "../../src/index.ts";
import type { Store } from "../../src/store/store.ts";
import type { Aside } from "../conformance/tables.ts";
import { BrokenLine } from "../race/broken-line.ts";
import type { Place } from "../race/support.ts";
import { describeOn, IDLE, placeOf, scopeOf } from "../race/support.ts";
import { begun, countsOf, Hands, look, settled, stepRow } from "./support/bench.ts";
import type { Failpoint } from "./support/failpoint.ts";
import { setFailpoint } from "./support/failpoint.ts";

const work = task({ id: "work", run: async (item: number) => item });
const after = task({ id: "after", run: async (all: number[]) => all.length });
const listed = workflow({
  id: "listed",
  steps: (s, input: Reference<number[]>) =>
    s.step("after", after, s.each("items", input, work, { concurrency: 100 }).output),
});
const APP = { tasks: [work, after], workflows: [listed] };
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

interface World {
  readonly name: Place["name"];
  readonly place: Place;
  /** Two coordinators, each with its own connections. */
  readonly first: Store;
  readonly second: Store;
  readonly aside: Aside;
}

async function worldOn(name: Place["name"]): Promise<World> {
  const place = await placeOf(name);
  onTestFinished(() => place.close());
  const first = await place.open();
  return { name, place, first, second: await place.open(), aside: await place.beside() };
}

/** The number of units of a step, and of distinct items among them. */
async function unitsOf(aside: Aside, run: string, step: string): Promise<{ units: number; places: number }> {
  const [row] = await aside.query(
    `SELECT COUNT(*) AS units, COUNT(DISTINCT item) AS places FROM sluice_task WHERE run = '${run}' AND step = '${step}'`,
  );
  return { units: Number(row?.units), places: Number(row?.places) };
}

/** Delivers the news of a run once more. */
const tellAgain = (store: Store, run: string): Promise<unknown> =>
  store.pass(scopeOf({ news: [{ run, failed: null }] }), () => IDLE);

/** The database refuses to advance the run at this point, so everything stays as it was. */
async function failsAt({ name, first, aside }: World, point: Failpoint): Promise<void> {
  const heal = await setFailpoint(name, aside, point);
  await expect(look(first)).rejects.toThrow("failpoint");
  await heal();
}

async function finishes(store: Store, run: string, items: readonly number[]): Promise<void> {
  const follower = await Hands.open(store, { tasks: ["after"] });
  expect(await follower.take()).toEqual([items]);
  await follower.swap(follower.held);
  await settled(store);
  expect((await store.run(run))?.run.state).toBe("succeeded");
  const { broken } = await store.inspect();
  expect(Object.entries(broken).filter(([, { ids }]) => ids.length > 0)).toEqual([]);
}

for (const name of ["PostgreSQL", "MariaDB", "SQLite"] as const)
  describeOn(name, () => {
    test("10,000 items whose coordinator dies between batches and within one are all there once, and in order", async () => {
      const world = await worldOn(name);
      const { first, second, aside } = world;
      const run = await begun(first, APP, upTo(10_000));
      for (const batches of [1, 2]) {
        await look(first);
        expect(await countsOf(second, run, "items")).toMatchObject({
          total: 10_000,
          created: batches * A_BATCH,
        });
      }
      // Work continues with the items that exist.
      const worker = await Hands.open(second, { slots: 100 });
      expect(await worker.take()).toEqual(upTo(100));
      await worker.swap([...worker.held], { appetite: 100 });
      // In the middle of the third batch: the whole batch is undone, and earlier ones stay.
      await failsAt(world, { table: "sluice_task", when: "NEW.item = 5000" });
      expect(await unitsOf(aside, run, "items")).toEqual({ units: 4_000, places: 4_000 });
      // The first coordinator is gone. Two others find what it left, and get more news than needed.
      await tellAgain(second, run);
      await Promise.all([settled(second), settled(await world.place.open())]);
      expect(await unitsOf(aside, run, "items")).toEqual({ units: 10_000, places: 10_000 });
      expect(await countsOf(second, run, "items")).toMatchObject({
        created: 10_000,
        succeeded: 100,
        running: 100,
        waiting: 9_800,
      });
      await worker.swap([...worker.held]);
      expect(await worker.take()).toEqual(upTo(300).slice(200));
    });

    test("a crash between the end of the last item and that of its step, or between that and its successor, leaves neither", async () => {
      const world = await worldOn(name);
      const { first, second, aside } = world;
      const run = await begun(first, APP, upTo(3));
      await settled(first);
      const worker = await Hands.open(first);
      await worker.take();
      await worker.swap([...worker.held]);
      // All items have ended and nobody has advanced the run yet: here the worker that ended the last one
      // dies.
      expect(await countsOf(second, run, "items")).toMatchObject({ succeeded: 3 });
      for (const point of [
        { table: "sluice_step", when: "NEW.name = 'items' AND NEW.state = 'succeeded'" },
        { table: "sluice_step", when: "NEW.name = 'after'" },
        { table: "sluice_task", when: "NEW.step = 'after'" },
      ] as const) {
        await failsAt(world, point);
        expect((await stepRow(second, run, "items")).state, point.when).toBe("open");
        expect(await unitsOf(aside, run, "after"), point.when).toMatchObject({ units: 0 });
      }
      // The next coordinator finds it, and the one that died may come back.
      await Promise.all([settled(second), settled(first)]);
      expect((await stepRow(second, run, "items")).state).toBe("succeeded");
      expect(await unitsOf(aside, run, "after")).toMatchObject({ units: 1 });
      await finishes(second, run, upTo(3));
    });

    test("news that is told again at every turn, to several at once, puts nothing in line twice", async () => {
      const { first, second, aside } = await worldOn(name);
      const run = await begun(first, APP, upTo(5));
      const twice = async (): Promise<void> => {
        for (const store of [first, second, first]) await tellAgain(store, run);
        await Promise.all([settled(first), settled(second)]);
      };
      await twice();
      const worker = await Hands.open(first);
      await worker.take();
      while (worker.held.length > 0) {
        await worker.swap(worker.held.slice(0, 1));
        await twice();
        expect(await unitsOf(aside, run, "items")).toEqual({ units: 5, places: 5 });
        expect((await unitsOf(aside, run, "after")).units).toBe(worker.held.length === 0 ? 1 : 0);
      }
      await finishes(second, run, upTo(5));
      await twice();
      expect((await unitsOf(aside, run, "after")).units).toBe(1);
    });
  });

for (const name of ["PostgreSQL", "MariaDB"] as const)
  describeOn(name, () => {
    test("a commit of the end of a step that never arrives leaves neither end nor successor; one whose answer is lost leaves both", async () => {
      const { place, second, aside } = await worldOn(name);
      const line = await BrokenLine.to(place.where);
      onTestFinished(() => line.close());
      const open = async (): Promise<Store> => (await placeAt(name, line.url)).open();
      for (const answer of ["never asked", "lost"] as const) {
        const run = await begun(second, APP, upTo(3));
        await settled(second);
        const worker = await Hands.open(second);
        await worker.take();
        await worker.swap([...worker.held]);
        const broken = await open();
        const isDone = async (): Promise<boolean> => (await unitsOf(aside, run, "after")).units === 1;
        line.breakNext(answer === "lost" ? { answer, isDone } : { answer });
        const cuts = line.cuts;
        await expect(look(broken), answer).rejects.toThrow();
        expect(line.cuts).toBe(cuts + 1);
        const both = answer === "lost";
        expect((await stepRow(second, run, "items")).state, answer).toBe(both ? "succeeded" : "open");
        expect((await unitsOf(aside, run, "after")).units, answer).toBe(both ? 1 : 0);
        await broken.close().catch(() => {});
        await Promise.all([settled(second), settled(second)]);
        expect(await unitsOf(aside, run, "after"), answer).toMatchObject({ units: 1 });
        await finishes(second, run, upTo(3));
      }
    });
  });

/** Opens the same database with new connections. */
async function placeAt(name: "PostgreSQL" | "MariaDB", url: string): Promise<{ open(): Promise<Store> }> {
  const { openPostgres } = await import("../../src/store/postgres/index.ts");
  const { openMysql } = await import("../../src/store/mysql/index.ts");
  return { open: async () => (name === "PostgreSQL" ? openPostgres({ url }) : openMysql({ url })) };
}
