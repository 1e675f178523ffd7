import { expect, test } from "vitest";
import type { AnyTask } from "../core/task/definition.ts";
import { task } from "../core/task/definition.ts";
import { workflow } from "../core/workflow/definition.ts";
import { openMemory } from "../store/memory/index.ts";
import { defineApp } from "./app.ts";
import { declarationOf } from "./declaration.ts";

const tasks = [task({ id: "t", queue: "mail", run: () => 1 })];

test("an app without limits declares none, and no rank of its queue", () => {
  const app = defineApp({ tasks: [task({ id: "t", run: () => 1 })] });
  expect(declarationOf(app, "shop")).toEqual({
    app: "shop",
    tasks: ["t"],
    workflows: [],
    queues: [{ name: "default", rank: null }],
    gates: [],
    triggers: [],
  });
});

test("limits of cluster, queues and pools become gates, each with the line of its kind", () => {
  const app = defineApp({
    tasks,
    clusterCap: 20,
    queues: { mail: { rank: 1, maxConcurrency: 3 }, bulk: {} },
    pools: { gpu: { limit: 4, lease: "2m" }, tenant: { limit: 1, perValue: true } },
  });
  expect(declarationOf(app, "shop")).toMatchObject({
    queues: [
      { name: "mail", rank: 1 },
      { name: "bulk", rank: null },
    ],
    gates: [
      { key: "cluster", limit: 20, line: "skip", leaseMs: undefined },
      { key: "queue:mail", limit: 3, line: "skip", leaseMs: undefined },
      { key: "pool:gpu", limit: 4, line: "bypass", leaseMs: 120_000 },
      { key: "pool:tenant=*", limit: 1, line: "bypass", leaseMs: 300_000 },
    ],
  });
});

test("the limits on runs become gates; an app that says nothing of runs leaves them to others", () => {
  const app = defineApp({
    tasks: [],
    runs: {
      max: 4,
      tags: [
        { key: "env", limit: 3 },
        { key: "env", value: "prod", limit: 2 },
        { key: "tenant", perValue: true, limit: 1 },
      ],
    },
  });
  const ofRuns = ({ key }: { key: string }) => /^(runs|tag:)/.test(key);
  expect(declarationOf(app, "shop").gates.filter(ofRuns)).toEqual([
    { key: "runs", limit: 4, line: "skip", leaseMs: undefined },
    { key: "tag:env", limit: 3, line: "skip", leaseMs: undefined },
    { key: "tag:env=prod", limit: 2, line: "skip", leaseMs: undefined },
    { key: "tag:tenant=*", limit: 1, line: "skip", leaseMs: undefined },
  ]);
  const nightly = workflow({ id: "nightly", steps: (s) => void s.step("a", tasks[0] as AnyTask) });
  const plain = defineApp({ tasks, workflows: [nightly], queues: { mail: {} } });
  expect(declarationOf(plain, "shop").gates.filter(ofRuns)).toEqual([]);
  expect(declarationOf(defineApp({ tasks: [] }), "shop").gates.filter(ofRuns)).toEqual([]);
});

test("a new declaration replaces the old one, but not what an operator has set", async () => {
  const store = openMemory();
  const capped = (clusterCap: number, maxConcurrency: number) =>
    declarationOf(defineApp({ tasks, clusterCap, queues: { mail: { maxConcurrency } } }), "shop");
  await store.declare(capped(5, 2));
  await store.changeLimit({ key: "queue:mail", to: "value", limit: 9, by: "ann" });
  await store.declare(capped(6, 3));
  expect(await store.limits(["cluster", "queue:mail"])).toEqual(
    new Map([
      ["cluster", 6],
      ["queue:mail", 9],
    ]),
  );
});
