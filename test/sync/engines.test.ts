// Engines with their own stores share locks through a sync database: seen from their runs.

import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { WorkflowOptions } from "../../src/core/workflow/definition.ts";
import { task, workflow } from "../../src/index.ts";
import type { RunState } from "../../src/store/store.ts";
import { openSync } from "../../src/store/sync/open.ts";
import type { SyncDatabase } from "../../src/store/sync/port.ts";
import { deferred } from "../e2e/support/deferred.ts";
import { until } from "../e2e/support/until.ts";
import type { Engine } from "./support/engines.ts";
import { engine } from "./support/engines.ts";
import type { SyncPlace } from "./support/places.ts";
import { describeSync } from "./support/places.ts";

/** Code that says who is inside, and stays until it is let go. */
class Room {
  readonly log: string[] = [];
  inside = 0;
  peak = 0;
  #open = deferred<void>();

  readonly enter = async (name: string): Promise<string> => {
    this.log.push(name);
    this.inside += 1;
    this.peak = Math.max(this.peak, this.inside);
    await this.#open.promise;
    this.inside -= 1;
    return name;
  };

  open(): void {
    this.#open.resolve();
  }
}

const work = (room: Room) => task({ id: "work", run: (name: string) => room.enter(name) });

const locked = (room: Room, locks: Pick<WorkflowOptions, "mutexes" | "semaphores">) =>
  workflow({
    id: "locked",
    ...locks,
    input: z.string(),
    steps: (s, name) => {
      s.step("work", work(room), name);
    },
  });

const MUTEX = { mutexes: [{ name: "m", database: true }] } as const;
const SEMAPHORE = { semaphores: [{ name: "s", database: true }] } as const;

describeSync(
  "engines that share locks",
  (placed) => {
    const appOf = (room: Room, locks: Pick<WorkflowOptions, "mutexes" | "semaphores">) => ({
      tasks: [work(room)],
      workflows: [locked(room, locks)],
    });
    const syncAt = async ({ url }: SyncPlace): Promise<SyncDatabase> => {
      const sync = await openSync({ url, inactiveMs: 3_000 });
      onTestFinished(() => sync.close());
      return sync;
    };
    const lineOf = async (sync: SyncDatabase): Promise<string[]> =>
      (await sync.look()).rows.filter(({ held }) => !held).map(({ key }) => key);

    test("a run waits for a mutex that a run of another engine holds, and gets it afterwards", async () => {
      const place = await placed();
      const [here, there] = [new Room(), new Room()];
      const a = await engine("a", place.url, appOf(here, MUTEX));
      const b = await engine("b", place.url, appOf(there, MUTEX));
      const sync = await syncAt(place);
      const first = await a.sluice.submit("locked", "first");
      await until(() => here.inside === 1, "the first run is inside");
      const second = await b.sluice.submit("locked", "second");
      await until(async () => (await lineOf(sync)).includes(second.id), "the second run stands in line");
      expect(there.inside).toBe(0);
      here.open();
      there.open();
      await until(() => there.log.length === 1, "the second run is inside");
      await until(async () => (await stateOf(b, second.id)) === "succeeded", "it has ended");
      await until(async () => (await sync.look()).rows.length === 0, "every lock is free");
      for (const { store } of [a, b])
        await until(async () => (await store.sharing()).length === 0, "nothing is left behind");
      expect(await stateOf(a, first.id)).toBe("succeeded");
      expect([...a.errors, ...b.errors]).toEqual([]);
    });

    test("runs take a semaphore in the order of their priorities, over all engines", async () => {
      const place = await placed();
      const room = new Room();
      const sync = await syncAt(place);
      await sync.create();
      await sync.setLimit("default/s", 0);
      const a = await engine("a", place.url, appOf(room, SEMAPHORE));
      const b = await engine("b", place.url, appOf(room, SEMAPHORE));
      for (const [name, priority] of [1, 5, 3].entries())
        for (const [of, plus] of [
          [a, 0],
          [b, 1],
        ] as const)
          await of.sluice.submit("locked", `${priority + plus}-${name}`, { priority: priority + plus });
      await until(async () => (await lineOf(sync)).length === 6, "all stand in line");
      await sync.setLimit("default/s", 1);
      room.open();
      await until(() => room.log.length === 6, "all were inside");
      expect(room.log.map((name) => Number(name[0]))).toEqual([6, 5, 4, 3, 2, 1]);
      expect(room.peak).toBe(1);
    });

    test("a lock that is released by hand ends the run that held it", async () => {
      const place = await placed();
      const room = new Room();
      const a = await engine("a", place.url, appOf(room, MUTEX));
      const aside = await place.beside();
      const { id } = await a.sluice.submit("locked", "held");
      await until(() => room.inside === 1, "the run is inside");
      await aside.query(`DELETE FROM sync_state WHERE workflowkey = '${id}' AND held = true`);
      await until(async () => (await stateOf(a, id)) === "failed", "the run has failed");
      expect(JSON.parse((await a.store.run(id))?.run.body ?? "{}")).toMatchObject({ code: "LOCK_RELEASED" });
      room.open();
      await until(async () => (await a.store.sharing()).length === 0, "nothing is left behind");
    });

    test("a run stands in the shared line only while its own engine would admit it, and keeps its place", async () => {
      const place = await placed();
      const room = new Room();
      const sync = await syncAt(place);
      const a = await engine("a", place.url, appOf(room, MUTEX));
      await a.sluice.submit("locked", "first");
      await until(() => room.inside === 1, "the first run is inside");
      const { id } = await a.sluice.submit("locked", "second");
      await until(async () => (await lineOf(sync)).includes(id), "the second run stands in line");
      const [before] = (await sync.look()).rows.filter(({ key }) => key === id);
      await a.sluice.limits.set("runs", 0);
      await until(async () => (await lineOf(sync)).length === 0, "it has left the line");
      await a.sluice.limits.set("runs", 100);
      await until(async () => (await lineOf(sync)).includes(id), "it is back");
      const [after] = (await sync.look()).rows.filter(({ key }) => key === id);
      expect(after?.at).toBe(before?.at);
      room.open();
    });

    test("a cancelled run leaves the shared line, and the next one gets the lock", async () => {
      const place = await placed();
      const room = new Room();
      const sync = await syncAt(place);
      const a = await engine("a", place.url, appOf(room, MUTEX));
      await a.sluice.submit("locked", "first");
      await until(() => room.inside === 1, "the first run is inside");
      const second = await a.sluice.submit("locked", "second", { priority: 1 });
      const third = await a.sluice.submit("locked", "third");
      await until(async () => (await lineOf(sync)).length === 2, "two stand in line");
      await a.sluice.runs.cancel(second.id);
      await until(async () => (await lineOf(sync)).join() === third.id, "one has left");
      room.open();
      await until(() => room.log.includes("third"), "the third run is inside");
    });

    test("a second engine of one name is refused while the first is alive", async () => {
      const place = await placed();
      const room = new Room();
      await engine("a", place.url, appOf(room, MUTEX));
      await expect(engine("a", place.url, appOf(room, MUTEX))).rejects.toMatchObject({
        code: "CONTROLLER_TAKEN",
      });
    });

    test("locks of a group, a step, each item of a list and a task are held while they run", async () => {
      const place = await placed();
      const room = new Room();
      const task1 = task({ id: "work", ...MUTEX, run: (name: string) => room.enter(name) });
      const plain = task({ id: "plain", run: (name: string) => room.enter(name) });
      const many = workflow({
        id: "many",
        steps: (s) => {
          s.step("task", task1, "of a task");
          s.step("step", plain, "of a step", MUTEX);
          s.each("items", ["item 0", "item 1"], plain, MUTEX);
          s.group("group", MUTEX, (g) => g.step("inner", plain, "of a group"));
        },
      });
      const a = await engine("a", place.url, { tasks: [task1, plain], workflows: [many] });
      const { id } = await a.sluice.submit("many", undefined);
      room.open();
      await until(async () => (await stateOf(a, id)) === "succeeded", "the run has ended");
      expect(room.peak).toBe(1);
      expect([...room.log].sort()).toEqual(["item 0", "item 1", "of a group", "of a step", "of a task"]);
      await until(async () => (await a.store.sharing()).length === 0, "nothing is left behind");
      expect(a.errors).toEqual([]);
    });
  },
  ["PostgreSQL", "MariaDB"],
);

const stateOf = async ({ store }: Engine, id: string): Promise<RunState | undefined> =>
  (await store.run(id))?.run.state;
