import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ConfigError } from "../error.ts";
import { task } from "../task/definition.ts";
import { checkApp } from "./check.ts";
import type { AppDefinition } from "./definition.ts";

const greet = task({ id: "greet", run: () => "hello" });
const inQueue = (queue: string) => task({ id: `in-${queue}`, queue, run: () => {} });

// The three example configurations of seed 004, in our shape.
const simple = { queueMode: "default", tasks: [greet] } satisfies AppDefinition;
const globalCap = { queueMode: "default", clusterCap: 20, tasks: [greet] } satisfies AppDefinition;
const rateLimits = {
  queueMode: "custom",
  queues: {
    stripe: { rank: 1, maxConcurrency: 3 },
    email: { rank: 50, maxConcurrency: 10 },
    reports: { rank: 100, maxConcurrency: 2 },
  },
  clusterCap: 15,
  tasks: ["stripe", "email", "reports"].map(inQueue),
} satisfies AppDefinition;

describe("the example configurations of Horsies", () => {
  it("single worker, simple: one queue, no caps, a claim lease of 60s", () => {
    const app = checkApp(simple);
    expect(app).toEqual({
      name: null,
      namespace: "default",
      parallelism: { engine: null, eachNamespace: null, namespaces: [] },
      semaphores: [],
      configMaps: [],
      tasks: new Map([["greet", greet]]),
      workflows: new Map(),
      executor: { kind: "parallel", maxWorkers: null, maxAsyncConcurrent: null },
      runs: {
        declared: false,
        max: 10,
        tags: [],
        startTimeoutMs: 180_000,
        onStartTimeout: "requeue",
        whileWaiting: "hold",
      },
      queueMode: "default",
      queues: [{ name: "default", rank: 100, ranked: false, maxConcurrency: null }],
      clusterCap: null,
      prefetch: 0,
      claimLeaseMs: 60_000,
      pools: [],
      sync: null,
      session: { leaseMs: 30_000, heartbeatMs: 10_000 },
      schedules: [],
      sensors: [],
      automations: [],
    });
  });

  it("multi-worker with a global cap", () => {
    expect(checkApp(globalCap)).toMatchObject({ clusterCap: 20, prefetch: 0, queueMode: "default" });
  });

  it("priority queues with rate limiting", () => {
    expect(checkApp(rateLimits)).toMatchObject({
      queueMode: "custom",
      clusterCap: 15,
      queues: [
        { name: "stripe", rank: 1, maxConcurrency: 3 },
        { name: "email", rank: 50, maxConcurrency: 10 },
        { name: "reports", rank: 100, maxConcurrency: 2 },
      ],
    });
  });

  const seeds = new URL("../../../../shared/seeds/", import.meta.url);
  const seed = existsSync(seeds) ? readdirSync(seeds).find((name) => name.startsWith("004")) : undefined;
  it.skipIf(seed === undefined)("are those of the seed, number for number", () => {
    const text = readFileSync(new URL(seed as string, seeds), "utf8");
    const examples = text.slice(
      text.indexOf("Example Configurations"),
      text.indexOf("Section titled “Monitoring”"),
    );
    const found = examples.split("AppConfig(").slice(1).map(configOf);
    expect(found).toEqual([simple, globalCap, rateLimits].map(({ tasks: _, ...config }) => config));
  });
});

/** Translates the seed's Python configuration into our shape. */
function configOf(python: string): Omit<AppDefinition, "tasks"> {
  const cap = /cluster_wide_cap=(\d+)/.exec(python)?.[1];
  const queues = [...python.matchAll(/name="(\w+)", priority=(\d+), max_concurrency=(\d+)/g)].map(
    ([, name, rank, max]) => [name, { rank: Number(rank), maxConcurrency: Number(max) }],
  );
  return {
    queueMode: python.includes("QueueMode.CUSTOM") ? "custom" : "default",
    ...(cap !== undefined && { clusterCap: Number(cap) }),
    ...(queues.length > 0 && { queues: Object.fromEntries(queues) }),
  };
}

describe("an app", () => {
  it("with queues needs no mode", () => {
    expect(checkApp({ tasks: [], queues: { default: {} } }).queueMode).toBe("custom");
  });

  it("fills in what was left out", () => {
    const app = checkApp({
      tasks: [greet],
      queues: { default: { maxConcurrency: 4 }, late: { rank: 200 } },
      pools: { database: { limit: 5 }, tenant: { limit: 1, lease: "30s", perValue: true } },
      session: { heartbeat: "2s" },
    });
    expect(app.queues).toEqual([
      { name: "default", rank: 100, ranked: false, maxConcurrency: 4 },
      { name: "late", rank: 200, ranked: true, maxConcurrency: null },
    ]);
    expect(app.pools).toEqual([
      { name: "database", limit: 5, leaseMs: 300_000, perValue: false },
      { name: "tenant", limit: 1, leaseMs: 30_000, perValue: true },
    ]);
    expect(app.session).toEqual({ leaseMs: 30_000, heartbeatMs: 2000 });
  });

  it("takes the soft cap of the seed, once its heartbeat fits into the lease", () => {
    const app = checkApp({ tasks: [], prefetch: 4, claimLease: "5s", session: { heartbeat: "2s" } });
    expect(app).toMatchObject({ prefetch: 4, claimLeaseMs: 5000 });
  });

  it("takes a task that uses everything", () => {
    const charge = task({
      id: "billing/charge.v2",
      queue: "stripe",
      priority: -5,
      input: z.object({ orderId: z.string() }),
      pools: { database: 2, "tenant=acme": 1 },
      retry: { attempts: 5, backoff: "exponential", delay: "1s", maxDelay: "1m", jitter: 0 },
      timeout: "30s",
      goodUntil: "1d",
      run: ({ orderId }) => orderId,
    });
    const pools = { database: { limit: 5 }, tenant: { limit: 1, perValue: true } };
    expect(checkApp({ tasks: [charge], queues: { stripe: {} }, pools }).tasks.get(charge.id)).toBe(charge);
  });

  it("cannot be changed once it is checked", () => {
    const app = checkApp(rateLimits);
    for (const part of [app, app.queues, app.queues[0], app.pools, app.session])
      expect(Object.isFrozen(part)).toBe(true);
  });

  it("that is wrong in several places says so once, with field, rule and cure of each", () => {
    const wrong: AppDefinition = {
      tasks: [inQueue("strpie"), greet, greet],
      queues: { stripe: { maxConcurrency: 0 }, default: {} },
      clusterCap: 0,
      prefetch: 2,
    };
    const error = problemsIn(wrong);
    expect(error).toBeInstanceOf(ConfigError);
    expect(error.message.split("\n")).toEqual([
      "this app cannot start, 6 problems:",
      "  clusterCap: must be a whole number of at least 1, but is 0. Set it to 1 or more, or leave it out for no cap (to pause it, set its limit to 0 at run time).",
      "  queues.stripe.maxConcurrency: must be a whole number of at least 1, but is 0. Set it to 1 or more, or leave it out for no cap (to pause it, set its limit to 0 at run time).",
      '  claimLease: must be set when prefetch is more than 0 (it is 2), so that the claims of a lost worker are recovered. Set it, like "60s", or set prefetch to 0.',
      "  prefetch: must be 0 when clusterCap is set, but is 2. Leave out prefetch for the hard cap, or leave out clusterCap.",
      '  tasks.in-strpie.queue: there is no queue "strpie" (known: stripe, default; did you mean "stripe"?). Name a declared queue, or add "strpie" to queues.',
      '  tasks[2].id: "greet" is already the id of tasks[1]. Give each task its own id, and list it once.',
    ]);
  });
});

function problemsIn(definition: unknown): ConfigError {
  try {
    checkApp(definition as AppDefinition);
  } catch (error) {
    return error as ConfigError;
  }
  throw new Error("nothing was wrong");
}

const wrongTask = (more: object) => ({ tasks: [{ ...greet, ...more }] });
const perInput = task({ id: "perInput", pools: () => ({}), run: () => {} });
const wrongAsk = (pools: object) => ({
  ...wrongTask({ pools }),
  pools: { gpu: { limit: 2 }, tenant: { limit: 1, perValue: true } },
});

describe("a wrong configuration is refused, with exactly this problem:", () => {
  it.each<[string, string, object]>([
    ["clusterCap", "whole number of at least 1, but is -1", { tasks: [], clusterCap: -1 }],
    ["clusterCap", "but is 1.5", { tasks: [], clusterCap: 1.5 }],
    ["clusterCap", 'but is "20"', { tasks: [], clusterCap: "20" }],
    ["prefetch", "at least 0, but is -1", { tasks: [], prefetch: -1 }],
    ["prefetch", "but is 0.5", { tasks: [], prefetch: 0.5, claimLease: "60s" }],
    [
      "prefetch",
      "must be 0 when clusterCap is set",
      { tasks: [], prefetch: 1, claimLease: "60s", clusterCap: 5 },
    ],
    ["claimLease", "must be set when prefetch", { tasks: [], prefetch: 1 }],
    ["claimLease", "5s is too short for its heartbeat", { tasks: [], prefetch: 4, claimLease: "5s" }],
    ["claimLease", "too short for its heartbeat", { tasks: [], session: { heartbeat: "31s", lease: "2m" } }],
    ["claimLease", '"60" has no unit', { tasks: [], claimLease: "60" }],
    ["claimLease", "must be longer than 0ms", { tasks: [], claimLease: "0ms" }],
    ["session.lease", "at least 3 × session.heartbeat", { tasks: [], session: { lease: "29s" } }],
    ["session.lease", "too short for its heartbeat", { tasks: [], session: { heartbeat: "11s" } }],
    ["session.heartbeat", "60000 has no unit", { tasks: [], session: { heartbeat: 60_000 } }],
    ["session.heartbeat", "must be longer than 0ms", { tasks: [], session: { heartbeat: "0s" } }],
    [
      "session.heartbeat",
      "9ms is too short: it must be at least 10ms",
      { tasks: [], session: { heartbeat: "9ms" } },
    ],
    ["session", "must be an object", { tasks: [], session: "30s" }],
    ["queueMode", "must not be", { tasks: [], queueMode: "default", queues: { a: {} } }],
    ["queueMode", "must not be", { tasks: [inQueue("a")], queueMode: "default", queues: { a: {} } }],
    ["queueMode", 'but is "fast"', { tasks: [], queueMode: "fast" }],
    ["queues", "at least one queue", { tasks: [], queueMode: "custom" }],
    ["queues", "at least one queue", { tasks: [], queues: {} }],
    ["queues.a.rank", "at least 1, but is 0", { tasks: [], queues: { a: { rank: 0 } } }],
    ["queues.a.maxConcurrency", "but is -1", { tasks: [], queues: { a: { maxConcurrency: -1 } } }],
    ["queues.a", "must be an object, but is 3", { tasks: [], queues: { a: 3 } }],
    ["queues.a b", "cannot be a queue's name", { tasks: [], queues: { "a b": {} } }],
    ["pools.gpu.limit", "but is 0", { tasks: [], pools: { gpu: { limit: 0 } } }],
    ["pools.gpu.limit", "but is null", { tasks: [], pools: { gpu: {} } }],
    ["pools.gpu.lease", "is not a duration", { tasks: [], pools: { gpu: { limit: 1, lease: "soon" } } }],
    ["pools.a=b", "cannot be a pool's name", { tasks: [], pools: { "a=b": { limit: 1 } } }],
    ["pools.gpu.perValue", "true or false", { tasks: [], pools: { gpu: { limit: 1, perValue: "yes" } } }],
    ["tasks.greet.queue", 'no queue "stripe" (known: default)', wrongTask({ queue: "stripe" })],
    ["tasks.greet.queue", "must be set", { tasks: [greet], queues: { stripe: {} } }],
    ["tasks.greet.priority", "whole number, but is 1.5", wrongTask({ priority: 1.5 })],
    ["tasks.greet.timeout", "has no unit", wrongTask({ timeout: 30 })],
    ["tasks.greet.goodUntil", "longer than 0ms", wrongTask({ goodUntil: "0ms" })],
    ["tasks.greet.retry", "must be an object", wrongTask({ retry: 3 })],
    ["tasks.greet.retry.attempts", "at least 1, but is 0", wrongTask({ retry: { attempts: 0 } })],
    ["tasks.greet.retry.jitter", "from 0 to 1, but is 25", wrongTask({ retry: { jitter: 25 } })],
    ["tasks.greet.retry.backoff", '"fixed" or "exponential"', wrongTask({ retry: { backoff: "linear" } })],
    ["tasks.greet.retry.delay", "is not a duration", wrongTask({ retry: { delay: "1 s" } })],
    [
      "tasks.greet.retry.maxDelay",
      "shorter than the delay",
      wrongTask({ retry: { delay: "5s", maxDelay: "1s" } }),
    ],
    ["tasks.greet.run", "must be a function", wrongTask({ run: "greet" })],
    ["tasks.greet.input", "must be a Standard Schema", wrongTask({ input: { type: "string" } })],
    ["tasks[0].id", "must not be empty", wrongTask({ id: "" })],
    ["tasks[0].id", "cannot be a task's id", wrongTask({ id: "a=b" })],
    ["tasks[1].id", '"greet" is already the id of tasks[0]', { tasks: [greet, greet] }],
    ["tasks[0]", "must be a task", { tasks: [undefined] }],
    ["tasks", "must be a list", {}],
    ["app", "must be an object, but is undefined", undefined as never],
    ["tasks.greet.pools.gpu", "at least 1, but is 0", wrongAsk({ gpu: 0 })],
    [
      "tasks.greet.pools.gpu",
      "asked for 3 slots, but its limit is 2, so this task can never start",
      wrongAsk({ gpu: 3 }),
    ],
    [
      "tasks.greet.pools.tenant=acme",
      "asked for 2 slots, but its limit is 1",
      wrongAsk({ "tenant=acme": 2 }),
    ],
    [
      "tasks.greet.pools.gpus",
      'no pool "gpus" (known: gpu, tenant; did you mean "gpu"?)',
      wrongAsk({ gpus: 1 }),
    ],
    ["tasks.greet.pools.constructor", 'no pool "constructor"', wrongAsk({ constructor: 1 })],
    ["tasks.greet.pools.gpu=a", "one limit for all", wrongAsk({ "gpu=a": 1 })],
    ["tasks.greet.pools.tenant", "has a limit per value", wrongAsk({ tenant: 1 })],
    ["tasks.greet.pools.tenant=", "has a limit per value", wrongAsk({ "tenant=": 1 })],
    ["tasks.greet.pools.tenant=*", "has a limit per value", wrongAsk({ "tenant=*": 1 })],
    ["clusterCaps", "not a known field", { tasks: [], clusterCaps: 5 }],
    ["queues.a.maxConcurency", "not a known field", { tasks: [], queues: { a: { maxConcurency: 5 } } }],
    ["tasks.greet.retry.when", "must be a function, but is true", wrongTask({ retry: { when: true } })],
    ["tasks.greet.onFailure", "must be a task, but is", wrongTask({ onFailure: "tell" })],
    [
      "tasks.greet.onFailure",
      'no task "tell"',
      wrongTask({ onFailure: task({ id: "tell", run: () => {} }) }),
    ],
    [
      "tasks.greet.onFailure",
      'is another task than the one with the id "greet"',
      wrongTask({ onFailure: task({ id: "greet", run: () => {} }) }),
    ],
    ["tasks.greet.onFailure", "are a function", { tasks: [{ ...greet, onFailure: perInput }, perInput] }],
    ["tasks.greet.retry.tries", "not a known field", wrongTask({ retry: { tries: 5 } })],
  ])("%s … %s", (field, rule, definition) => {
    const { problems } = problemsIn(definition);
    expect(problems).toEqual([
      { field, rule: expect.stringContaining(rule), cure: expect.stringMatching(/^[A-Z]/) },
    ]);
  });
});
