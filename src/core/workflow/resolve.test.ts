import { describe, expect, it } from "vitest";
import { checkApp } from "../app/check.ts";
import type { AppDefinition } from "../app/definition.ts";
import { task } from "../task/definition.ts";
import type { AnyWorkflow } from "./definition.ts";
import { workflow } from "./definition.ts";
import type { ExecutorChoice } from "./executor.ts";
import { inProcess, kubernetes, parallel } from "./executor.ts";
import type { TaskStep } from "./graph.ts";
import { zip } from "./items.ts";
import { locksOfTask } from "./locks.ts";
import { graphProblems } from "./problems.ts";
import { graphOf, mostWorkers } from "./resolve.ts";
import { runAsks, runTags } from "./run-asks.ts";

const load = task({
  id: "load",
  queue: "bulk",
  priority: 4,
  pools: { database: 2 },
  retry: { attempts: 5 },
  timeout: "30s",
  run: () => [1],
});
const crunch = task({ id: "crunch", cpu: true, run: (_: readonly number[]) => 1 });
const app = (workflows: AnyWorkflow[], more: Partial<AppDefinition> = {}) =>
  checkApp({
    tasks: [load, crunch],
    workflows,
    queues: { default: {}, bulk: {} },
    pools: { database: { limit: 5 }, tenant: { limit: 1, perValue: true } },
    ...more,
  });

const graph = (made: AnyWorkflow, more: Partial<AppDefinition> = {}) =>
  graphOf(made, app([made], more), { cpus: 8 });

describe("a run is made of", () => {
  it("what its steps say, then their tasks, then the defaults", () => {
    const made = workflow({
      id: "nightly",
      timeout: "1h",
      failFast: true,
      steps: (s) => {
        const loaded = s.step("load", load);
        s.step("again", load, undefined, {
          queue: "default",
          priority: -1,
          pools: { "tenant=acme": 1 },
          retry: { attempts: 2, backoff: "fixed", delay: "3s", jitter: 0 },
          timeout: "5s",
          mutexes: ["books"],
          mayFail: true,
        });
        return s.step("crunch", crunch, loaded.output);
      },
    });
    const made1 = graph(made);
    expect(made1).toMatchObject({
      workflow: "nightly",
      output: { $from: ["step", "crunch"] },
      failFast: true,
      timeoutMs: 3_600_000,
      gates: [
        { name: "async", limit: -1 },
        { name: "workers", limit: 8 },
      ],
      steps: [
        {
          name: "load",
          task: "load",
          queue: "bulk",
          priority: 4,
          asks: [["pool:database", 2]],
          gate: "async",
          retry: { attempts: 5 },
          timeoutMs: 30_000,
          mayFail: false,
          pod: null,
        },
        {
          name: "again",
          queue: "default",
          priority: -1,
          asks: [["pool:tenant=acme", 1]],
          locks: [{ kind: "mutex", name: "books", namespace: null, slots: 1 }],
          retry: { attempts: 2, backoff: "fixed", delayMs: 3000 },
          timeoutMs: 5000,
          mayFail: true,
        },
        {
          name: "crunch",
          queue: "default",
          priority: null,
          needs: [{ step: "load", on: "succeeded" }],
          asks: [],
          gate: "workers",
          retry: { attempts: 1 },
          timeoutMs: null,
        },
      ],
    });
    expect(graphProblems(made1)).toEqual([]);
    expect(JSON.parse(JSON.stringify(made1))).toEqual(made1);
  });

  it("its lists, with as many at once as other gates let in and every item's turn unless said otherwise", () => {
    const made = workflow({
      id: "lists",
      steps: (s) => {
        const loaded = s.step("load", load);
        const counted = s.each("count", [loaded.output, [2]], crunch, {
          concurrency: 3,
          onFailure: "cancel",
          mutexes: ["books"],
        });
        s.each("again", zip(counted.output, loaded.output), crunch, { pools: { database: 1 } });
      },
    });
    const made1 = graph(made);
    expect(made1.steps).toMatchObject([
      { name: "load", each: null },
      {
        name: "count",
        task: "crunch",
        input: { $from: ["item"] },
        each: {
          items: { list: [{ $from: ["step", "load"] }, [2]] },
          concurrency: 3,
          onFailure: "cancel",
        },
        needs: [{ step: "load", on: "succeeded" }],
        locks: [{ kind: "mutex", name: "books", namespace: null, slots: 1 }],
        gate: "workers",
      },
      {
        name: "again",
        each: {
          items: { zip: [{ $from: ["step", "count"] }, { $from: ["step", "load"] }] },
          concurrency: null,
          onFailure: "run-all",
        },
        needs: [
          { step: "count", on: "succeeded" },
          { step: "load", on: "succeeded" },
        ],
        asks: [["pool:database", 1]],
      },
    ]);
    expect(graphProblems(made1)).toEqual([]);
    expect(JSON.parse(JSON.stringify(made1))).toEqual(made1);
  });

  const both = (executor?: ExecutorChoice) =>
    workflow({
      id: "both",
      ...(executor && { executor }),
      steps: (s) => {
        s.step("load", load);
        s.step("crunch", crunch, []);
      },
    });

  it.each<[string, ExecutorChoice | undefined, object[]]>([
    [
      "nothing",
      undefined,
      [
        { name: "async", limit: -1 },
        { name: "workers", limit: 8 },
      ],
    ],
    ["in-process", inProcess(), [{ name: "in-process", limit: 1 }]],
    [
      "parallel with numbers",
      parallel({ maxWorkers: 2, maxAsyncConcurrent: 3 }),
      [
        { name: "async", limit: 3 },
        { name: "workers", limit: 2 },
      ],
    ],
    ["kubernetes", kubernetes({ image: "i" }), [{ name: "pods", limit: -1 }]],
    [
      "kubernetes with a cap",
      kubernetes({ image: "i", maxConcurrentSteps: 4 }),
      [{ name: "pods", limit: 4 }],
    ],
  ])("the gates of its executor: %s", (_, executor, gates) => {
    expect(graph(both(executor)).gates).toEqual(gates);
    expect(graph(both(), executor && { executor }).gates).toEqual(gates);
  });

  it("the nearest executor", () => {
    const made = workflow({
      id: "near",
      executor: inProcess(),
      steps: (s) => {
        s.step("load", load, undefined, {
          executor: kubernetes({ image: "i", keep: "failed", env: { A: "1" } }),
        });
        s.step("crunch", crunch, []);
      },
    });
    const steps = graph(made, { executor: parallel({ maxWorkers: 1 }) }).steps as readonly TaskStep[];
    expect(steps.map(({ gate }) => gate)).toEqual(["pods", "in-process"]);
    expect(steps[0]?.pod).toEqual({
      image: "i",
      namespace: "default",
      command: null,
      serviceAccount: null,
      env: { A: "1" },
      labels: {},
      resources: null,
      keep: "failed",
    });
    expect(steps[1]?.pod).toBeNull();
  });
});

describe("a run asks", () => {
  const made = workflow({
    id: "asking",
    tags: { env: "prod", team: "a" },
    pools: { database: 2 },
    mutexes: ["nightly"],
    steps: (s) => void s.step("crunch", crunch, []),
  });

  it("the run cap, both gates of each tag, and what its workflow holds", () => {
    const tags = { team: "b", tenant: "acme" };
    expect(runAsks(made, { tags, locks: locksOfTask(made), namespace: "ops" })).toEqual([
      { gate: "runs", slots: 1 },
      { gate: "tag:env", slots: 1 },
      { gate: "tag:env=prod", slots: 1 },
      { gate: "tag:team", slots: 1 },
      { gate: "tag:team=b", slots: 1 },
      { gate: "tag:tenant", slots: 1 },
      { gate: "tag:tenant=acme", slots: 1 },
      { gate: "pool:database", slots: 2 },
      { gate: "mutex:ops/nightly", slots: 1 },
    ]);
  });

  it("the same whether its workflow's tags are given again or not", () => {
    const asks = (tags: Readonly<Record<string, string>>) =>
      runAsks(made, { tags, locks: [], namespace: "default" });
    expect(asks(runTags(made))).toEqual(asks({}));
  });
});

describe("an app has at work at once, of the CPU-bound steps of a run", () => {
  const crunching = (id: string, executor?: ExecutorChoice) =>
    workflow({ id, ...(executor ? { executor } : {}), steps: (s) => s.step("crunch", crunch, [1]) });
  const most = (...workflows: AnyWorkflow[]) => mostWorkers(app(workflows), { cpus: 4 });

  it("one for each CPU, or as many as the widest of its workflows says", () => {
    expect(most()).toBe(4);
    expect(most(crunching("a"), crunching("b", parallel({ maxWorkers: 2 })))).toBe(4);
    expect(most(crunching("a", parallel({ maxWorkers: 8 })), crunching("b", parallel()))).toBe(8);
  });

  it("no more for what runs elsewhere", () => {
    expect(most(crunching("a", kubernetes({ image: "app", maxConcurrentSteps: 50 })))).toBe(4);
    expect(most(crunching("a", parallel({ maxAsyncConcurrent: 50 })))).toBe(4);
  });
});
