// The connection dies while a trigger fires. Nothing is guessed: the stamp shows at the next look whether it
// happened, and the run exists once.

import { expect, test } from "vitest";
import { laneOf } from "../../src/store/lane.ts";
import type { NewRun } from "../../src/store/runs.ts";
import { RUNS } from "../../src/store/runs.ts";
import type { Enqueued } from "../../src/store/store.ts";
import type { Scene } from "./behind-broken-line.ts";
import { behindBrokenLine } from "./behind-broken-line.ts";
import { describeOn, newTask } from "./support.ts";

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

/** A schedule that has not fired, and ways to look at it. */
async function scheduled(name: "PostgreSQL" | "MariaDB") {
  const nightly = { name: NAME, kind: "schedule", workflow: "run", spec: "{}", paused: false } as const;
  const scene: Scene = await behindBrokenLine(name, async (store) => {
    await store.declare({ queues: [], gates: [], triggers: [nightly] });
  });
  const { store, count } = scene;
  return {
    ...scene,
    fire: (id: string, stamp: number): Promise<Enqueued[] | undefined> =>
      store.fire({ name: NAME, stamp, state: '{"fired":true}', nextAt: 1, submit: [newRun(id)] }),
    stamp: async (): Promise<number> => (await store.triggers()).triggers[0]?.stamp as number,
    effects: async (): Promise<number[]> => [
      await count("sluice_task"),
      await count("sluice_run"),
      await count("sluice_waiting"),
    ],
  };
}

for (const name of ["PostgreSQL", "MariaDB"] as const) {
  describeOn(name, () => {
    test("and its commit was done: the stamp says so, and there is nothing to do again", async () => {
      const { line, count, fire, stamp, effects } = await scheduled(name);
      line.breakNext({ answer: "lost", isDone: async () => (await count("sluice_task")) > 0 });
      await expect(fire("a", 0)).rejects.toMatchObject({ code: "AMBIGUOUS_COMMIT" });
      expect(line.cuts).toBe(1);
      expect(await stamp()).toBe(1);
      expect(await effects()).toEqual([1, 1, 1]);
    });

    test("and its commit never arrived: the stamp says so, and it fires again", async () => {
      const { line, fire, stamp, effects } = await scheduled(name);
      line.breakNext({ answer: "never asked" });
      await expect(fire("a", 0)).rejects.toMatchObject({ code: "AMBIGUOUS_COMMIT" });
      expect(await stamp()).toBe(0);
      expect(await fire("b", 0)).toEqual([{ id: "b", created: true }]);
      expect(await effects()).toEqual([1, 1, 1]);
    });

    test("and its commit arrives while another one fires: that one waits, and finds itself second", async () => {
      const { line, fire, stamp, effects, isAnyoneWaiting } = await scheduled(name);
      line.breakNext({ answer: "late", isTime: isAnyoneWaiting });
      await expect(fire("a", 0)).rejects.toMatchObject({ code: "AMBIGUOUS_COMMIT" });
      expect(await fire("b", 0)).toBeUndefined();
      expect(await stamp()).toBe(1);
      expect(await effects()).toEqual([1, 1, 1]);
    });
  });
}
