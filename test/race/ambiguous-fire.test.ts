// The connection dies while a trigger fires. Nobody guesses: who looks again sees by the stamp whether it happened, and
// the run is there once.

import { afterEach, beforeEach, expect, test } from "vitest";
import { laneOf } from "../../src/store/lane.ts";
import { openMysql } from "../../src/store/mysql/index.ts";
import { openPostgres } from "../../src/store/postgres/index.ts";
import type { NewRun } from "../../src/store/runs.ts";
import { RUNS } from "../../src/store/runs.ts";
import type { Enqueued, Store } from "../../src/store/store.ts";
import type { Aside } from "../conformance/tables.ts";
import { BrokenLine } from "./broken-line.ts";
import type { Place } from "./support.ts";
import { describeOn, newTask, placeOf, waitingForLocks } from "./support.ts";

const NAME = "schedule nightly";

const newRun = (id: string): NewRun => ({
  ...newTask(id, { lane: laneOf(RUNS, "run", [{ gate: "runs", slots: 1 }]) }),
  direct: false,
  graph: "{}",
  tags: "{}",
  source: NAME,
  rerunOf: null,
  steps: [],
});

for (const name of ["PostgreSQL", "MariaDB"] as const) {
  describeOn(name, () => {
    let place: Place;
    let line: BrokenLine;
    let store: Store;
    let observer: Aside;

    beforeEach(async () => {
      place = await placeOf(name);
      const other = await place.open();
      await other.declareTriggers([
        { name: NAME, kind: "schedule", workflow: "run", spec: "{}", paused: false },
      ]);
      observer = await place.beside();
      line = await BrokenLine.to(place.where);
      store = name === "PostgreSQL" ? openPostgres({ url: line.url }) : openMysql({ url: line.url });
    });
    afterEach(async () => {
      await store.close();
      await line.close();
      await place.close();
    });

    const count = async (table: string): Promise<number> =>
      Number((await observer.query(`SELECT count(*) AS n FROM ${table}`))[0]?.n);
    const fire = (id: string, stamp: number): Promise<Enqueued[] | undefined> =>
      store.fire({ name: NAME, stamp, state: '{"fired":true}', nextAt: 1, submit: [newRun(id)] });
    const stamp = async (): Promise<number> => (await store.triggers()).triggers[0]?.stamp as number;
    const effects = async (): Promise<number[]> => [
      await count("sluice_task"),
      await count("sluice_run"),
      await count("sluice_waiting"),
    ];

    test("and its commit was done: the stamp says so, and there is nothing to do again", async () => {
      line.breakNext({ answer: "lost", isDone: async () => (await count("sluice_task")) > 0 });
      await expect(fire("a", 0)).rejects.toMatchObject({ code: "AMBIGUOUS_COMMIT" });
      expect(line.cuts).toBe(1);
      expect(await stamp()).toBe(1);
      expect(await effects()).toEqual([1, 1, 1]);
    });

    test("and its commit never arrived: the stamp says so, and it fires again", async () => {
      line.breakNext({ answer: "never asked" });
      await expect(fire("a", 0)).rejects.toMatchObject({ code: "AMBIGUOUS_COMMIT" });
      expect(await stamp()).toBe(0);
      expect(await fire("b", 0)).toEqual([{ id: "b", created: true }]);
      expect(await effects()).toEqual([1, 1, 1]);
    });

    test("and its commit arrives while another one fires: that one waits, and finds itself second", async () => {
      line.breakNext({ answer: "late", isTime: async () => (await waitingForLocks(name, observer)) > 0 });
      await expect(fire("a", 0)).rejects.toMatchObject({ code: "AMBIGUOUS_COMMIT" });
      expect(await fire("b", 0)).toBeUndefined();
      expect(await stamp()).toBe(1);
      expect(await effects()).toEqual([1, 1, 1]);
    });
  });
}
