// Namespaces of runs: who names them, what they limit, and where they are shown.

import { expect, test } from "vitest";
import type { AppDefinition, Reference } from "../../src/index.ts";
import { task, workflow } from "../../src/index.ts";
import { deferred } from "../e2e/support/deferred.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { working } from "../runs/support/world.ts";
import { holders } from "./support/holders.ts";

const NAMESPACES = ["a", "b", "c", "d", "e"] as const;

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("the parallelism of the engine and of each namespace is reached and not exceeded by 100 runs", {
    timeout: 120_000,
  }, async () => {
    const inside = new Map<string, number>();
    const most = new Map<string, number>();
    const count = (key: string, by: number): void => {
      const now = (inside.get(key) ?? 0) + by;
      inside.set(key, now);
      most.set(key, Math.max(now, most.get(key) ?? 0));
    };
    const free = deferred<void>();
    const visit = task({
      id: "visit",
      run: async (namespace: string) => {
        for (const key of ["all", namespace]) count(key, 1);
        await free.promise;
        for (const key of ["all", namespace]) count(key, -1);
      },
    });
    const visiting = workflow({
      id: "visiting",
      steps: (s, input: Reference<string>) => s.step("v", visit, input),
    });
    const app: AppDefinition = {
      tasks: [visit],
      workflows: [visiting],
      runs: { max: -1 },
      parallelism: 8,
      namespaceParallelism: 3,
      namespaces: { b: { parallelism: 5 }, c: { parallelism: 1 } },
    };
    const sluice = await working(place, app, { slots: 20 });
    const runs = await Promise.all(
      Array.from({ length: 100 }, (_, index) => {
        const namespace = NAMESPACES[index % 5] as string;
        return sluice.submit(visiting, namespace, { namespace });
      }),
    );
    await until(() => inside.get("all") === 8, "the engine is full");
    const waiting = await until(
      async () => (await sluice.runs.list({ namespace: "c", state: "queued", limit: 1 }))[0],
      "a run of a full namespace waits",
    );
    const { sentences } = await sluice.explain(waiting.id);
    expect(sentences.map(({ text }) => text).join()).toMatch(/the parallelism of the engine is full: 8 of 8/);
    await sluice.limits.set("engine", 50);
    await until(() => inside.get("all") === 15, "each namespace is full");
    await sluice.limits.reset("engine");
    free.resolve();
    for (const { id } of runs) await sluice.runs.ended(id);
    expect(Object.fromEntries(most)).toEqual({ all: 15, a: 3, b: 5, c: 1, d: 3, e: 3 });
  });

  test("a run has the namespace of its submission, else of its workflow, else of its app; its children have it too", async () => {
    const { hold, letGo, hasBegun } = holders();
    const low = workflow({
      id: "low",
      mutexes: ["own"],
      steps: (s, input: Reference<string>) => s.step("h", hold, input),
    });
    const plain = workflow({
      id: "plain",
      steps: (s, input: Reference<string>) => void s.run("low", low, input),
    });
    const teams = workflow({
      id: "teams",
      namespace: "team",
      steps: (s, input: Reference<string>) => void s.run("low", low, input),
    });
    const apart = workflow({
      id: "apart",
      steps: (s, input: Reference<string>) => void s.run("low", low, input, { detached: true }),
    });
    const sluice = await working(place, {
      namespace: "shop",
      tasks: [hold],
      workflows: [plain, teams, apart, low],
    });
    const first = await sluice.submit(plain, "first");
    const second = await sluice.submit(teams, "second");
    const third = await sluice.submit(teams, "third", { namespace: "mine" });
    // Each holds the mutex of its own namespace, so all of them run at once.
    await hasBegun("first", "second", "third");
    const namespaces = await Promise.all([first, second, third].map(({ id }) => sluice.runs.get(id)));
    expect(namespaces.map((run) => run?.namespace)).toEqual(["shop", "team", "mine"]);
    const tree = await sluice.runs.tree(third.id);
    expect(tree.map(({ namespace }) => namespace)).toEqual(["mine"]);
    expect((await sluice.runs.list({ namespace: "team" })).map(({ id }) => id)).toEqual([second.id]);
    const fourth = await sluice.submit(apart, "fourth", { namespace: "mine" });
    const waiting = await until(
      async () => (await sluice.runs.list({ workflow: "low", namespace: "mine", state: "queued" }))[0],
      "the detached run waits for the mutex of its namespace",
    );
    expect((await sluice.explain(waiting.id)).sentences[0]?.text).toContain(
      'mutex "own" of namespace "mine"',
    );
    for (const name of ["first", "second", "third", "fourth"]) await letGo(name);
    expect((await sluice.runs.ended(fourth.id)).state).toBe("succeeded");
    const again = await sluice.runs.rerun(third.id, { all: true });
    await letGo("third");
    expect((await sluice.runs.ended(again.id)).namespace).toBe("mine");
  });
});
