// A run that waits for a detached run: its end, its rerun, and the slots of the detached run.

import { expect, test } from "vitest";
import type { Reference, Sluice } from "../../src/index.ts";
import { task, workflow } from "../../src/index.ts";
import { deferred } from "../e2e/support/deferred.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { working } from "../runs/support/world.ts";

/** `direct` waits for a detached run, `deep` has a child that does. */
function waitingFor() {
  const begun: number[] = [];
  const gate = { go: deferred<void>() };
  const work = task({
    id: "work",
    run: async (n: number) => {
      begun.push(n);
      await gate.go.promise;
      return n + 1;
    },
  });
  const loose = workflow({ id: "loose", steps: (s, n: Reference<number>) => s.step("work", work, n).output });
  const direct = workflow({
    id: "direct",
    steps: (s, n: Reference<number>) => s.run("wait", loose, n, { detached: true }).output,
  });
  const deep = workflow({ id: "deep", steps: (s, n: Reference<number>) => s.run("down", direct, n).output });
  return { begun, gate, direct, deep, app: { tasks: [work], workflows: [loose, direct, deep] } };
}

const allOf = async (sluice: Sluice, id: string) =>
  Promise.all(
    [id, ...(await sluice.runs.tree(id)).map((run) => run.id)].map((each) => sluice.runs.get(each)),
  );

const looseOnes = async (sluice: Sluice) =>
  (await sluice.runs.list()).filter(({ workflow }) => workflow === "loose");

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test.each(["direct", "deep"] as const)(
    "%s waits for a detached run: a cancel ends its step for good, and a rerun takes what it had",
    {
      timeout: 60_000,
    },
    async (which) => {
      const world = waitingFor();
      const sluice = await working(place, world.app);
      const { id } = await sluice.submit(world[which], 7);
      await until(() => world.begun.length === 1, "the detached run runs");
      await sluice.runs.cancel(id, "ana");
      await until(async () => !(await sluice.store.stirring()).news, "the whole tree has ended");
      const ended = await allOf(sluice, id);
      const step = ended.at(-1)?.steps[0];
      expect(step).toMatchObject({ name: "wait", state: "cancelled", error: { code: "CANCELLED" } });
      expect(step?.finishedAt).toBe(ended.at(-1)?.finishedAt);
      expect(await looseOnes(sluice)).toMatchObject([{ state: "started" }]);
      world.gate.go.resolve();
      await until(async () => (await looseOnes(sluice))[0]?.state === "succeeded", "the detached run ends");
      await until(async () => !(await sluice.store.stirring()).news, "its end is known");
      expect(await allOf(sluice, id)).toEqual(ended);
      const events = await sluice.runs.events(ended.at(-1)?.id as string);
      expect(events.at(-1)?.kind).toBe("RunCancelled");
      const again = await sluice.runs.ended((await sluice.runs.rerun(id)).id);
      expect(again).toMatchObject({ state: "succeeded", result: 8 });
      expect(await looseOnes(sluice)).toHaveLength(1);
      expect(world.begun).toEqual([7]);
      const [taken] = (await allOf(sluice, again.id)).at(-1)?.steps ?? [];
      expect(taken).toMatchObject({ state: "succeeded", result: 8 });
      if (which === "direct") expect(taken?.takenOver).toBe(id);
    },
  );

  test("a detached run that only waits gives its slots back, like a submitted one", async () => {
    const asking = workflow({ id: "asking", steps: (s) => s.approve("ask", { question: "?" }) });
    const locking = workflow({
      id: "locking",
      mutexes: ["door"],
      steps: (s) => s.approve("ask", { question: "?" }),
    });
    const starts = workflow({
      id: "starts",
      steps: (s) => {
        s.run("asking", asking, undefined, { detached: { wait: false } });
        s.run("locking", locking, undefined, { detached: { wait: false } });
      },
    });
    const runs = { max: 5, whileWaiting: "release" as const };
    const sluice = await working(place, { tasks: [], workflows: [asking, locking, starts], runs });
    const { id } = await sluice.submit(starts, undefined);
    await sluice.runs.ended(id);
    const open = async () => (await sluice.runs.list()).filter((run) => run.id !== id);
    await until(async () => {
      const waits = await Promise.all((await open()).map((run) => sluice.runs.get(run.id)));
      return waits.every((run) => run?.steps[0]?.state === "waiting");
    }, "both wait");
    // The one that holds a lock keeps its slots.
    const held = async () => (await sluice.limits.list()).find(({ key }) => key === "runs")?.held;
    await until(async () => (await held()) === 1, "one of them holds a slot");
    for (const run of await open()) await sluice.runs.approve(run.id, "ask");
    for (const run of await open()) expect((await sluice.runs.ended(run.id)).state).toBe("succeeded");
  });
});
