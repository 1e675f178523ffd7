import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import type { AnyTask } from "../core/task/definition.ts";
import { task } from "../core/task/definition.ts";
import type { EnqueueOptions } from "../core/task/enqueue-options.ts";
import { asksOf } from "../store/lane.ts";
import type { NewTask } from "../store/store.ts";
import { largeAsks, newTask, refuseNever } from "./new-task.ts";

const plain = task({ id: "plain", run: () => 1 });

const made = (definition: AnyTask, input?: unknown, options: EnqueueOptions = {}): Promise<NewTask> =>
  newTask(definition, input, options, "id1", { pools: POOLS });

const POOLS = [
  { name: "gpu", limit: 3, leaseMs: 1_000, perValue: false },
  { name: "tenant", limit: 1, leaseMs: 1_000, perValue: true },
];

const asks = async (definition: AnyTask, input?: unknown, options?: EnqueueOptions) =>
  Object.fromEntries(
    asksOf((await made(definition, input, options)).lane.asks).map((ask) => [ask.gate, ask.slots]),
  );

describe("a task that nothing is said about", () => {
  test("waits in the default queue, with priority 0, from now on and for ever, and is not retried", async () => {
    expect(await made(plain)).toMatchObject({
      id: "id1",
      name: "plain",
      priority: 0,
      input: "",
      key: null,
      runAt: null,
      delayMs: null,
      goodUntil: null,
      goodForMs: null,
    });
    const { lane, options } = await made(plain);
    expect(lane).toMatchObject({ queue: "default", task: "plain" });
    expect(JSON.parse(options)).toMatchObject({ retry: { attempts: 1 }, timeoutMs: null });
  });

  test("asks for a slot of the cluster and of its queue", async () => {
    expect(await asks(plain)).toEqual({ cluster: 1, "queue:default": 1 });
  });
});

describe("what a task says about itself", () => {
  const said = task({
    id: "said",
    queue: "mail",
    priority: 3,
    goodUntil: "1h",
    timeout: "30s",
    retry: { attempts: 5, delay: "2s", backoff: "fixed" },
    run: () => 1,
  });

  test("is kept with it", async () => {
    const { lane, priority, goodForMs, options } = await made(said);
    expect([lane.queue, priority, goodForMs]).toEqual(["mail", 3, 3_600_000]);
    expect(JSON.parse(options)).toMatchObject({
      timeoutMs: 30_000,
      retry: { attempts: 5, backoff: "fixed", delayMs: 2_000 },
    });
  });

  test("gives way to what the call says", async () => {
    const until = new Date(5_000);
    const called = await made(said, undefined, { queue: "bulk", priority: -1, goodUntil: until });
    expect(called).toMatchObject({ priority: -1, goodUntil: 5_000, goodForMs: null });
    expect(called.lane.queue).toBe("bulk");
    expect(await asks(said, undefined, { queue: "bulk" })).toEqual({ cluster: 1, "queue:bulk": 1 });
    expect(await made(said, undefined, { goodUntil: "5m" })).toMatchObject({
      goodUntil: null,
      goodForMs: 300_000,
    });
  });
});

describe("what a call says", () => {
  test("may be a start in a while or at an instant", async () => {
    expect(await made(plain, 1, { delay: "90s" })).toMatchObject({ delayMs: 90_000, runAt: null });
    expect(await made(plain, 1, { delay: "0ms" })).toMatchObject({ delayMs: 0, runAt: null });
    expect(await made(plain, 1, { runAt: new Date(7_000) })).toMatchObject({ delayMs: null, runAt: 7_000 });
    expect(await made(plain, 1, { runAt: new Date(0) })).toMatchObject({ runAt: 0 });
  });

  test("may be a key, under which it is enqueued once", async () => {
    expect(await made(plain, 1, { idempotencyKey: "order-7" })).toMatchObject({ key: "order-7" });
  });

  test.each<[string, string, EnqueueOptions]>([
    ["a priority that is not whole", "BAD_PRIORITY", { priority: 1.5 }],
    ["both a delay and an instant", "BAD_OPTIONS", { delay: "1s", runAt: new Date() }],
    ["a start that is no date", "BAD_OPTIONS", { runAt: new Date("never") }],
    ["a deadline that is no date", "BAD_OPTIONS", { goodUntil: new Date("never") }],
    ["a start that is only text", "BAD_OPTIONS", { runAt: "2026-01-01" as unknown as Date }],
    ["a delay without a unit", "BAD_DURATION", { delay: "5" }],
    ["a deadline without a unit", "BAD_DURATION", { goodUntil: 5_000 as unknown as string }],
  ])("is refused when it is %s", async (_, code, options) => {
    await expect(made(plain, 1, options)).rejects.toMatchObject({
      code,
      ...(code === "BAD_DURATION" ? {} : { message: expect.stringContaining('task "plain"') }),
    });
  });
});

describe("the input", () => {
  const schema = z.object({ to: z.string().transform((text) => text.toUpperCase()) });

  test("is kept as it was given: the schema makes its own of it when it runs", async () => {
    const { input } = await made(task({ id: "t", input: schema, run: () => 1 }), { to: "ann" });
    expect(JSON.parse(input)).toEqual({ to: "ann" });
  });

  test("that does not fit is refused before anything is kept", async () => {
    const pools = vi.fn(() => ({}));
    const refused = made(task({ id: "t", input: schema, pools, run: () => 1 }), { to: 5 });
    await expect(refused).rejects.toMatchObject({ code: "BAD_INPUT" });
    expect(pools).not.toHaveBeenCalled();
  });

  test("that is not JSON is refused", async () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    for (const input of [circle, { n: 1n }])
      await expect(made(plain, input)).rejects.toMatchObject({ code: "BAD_INPUT" });
  });

  test("is checked as it will be read: what does not survive JSON is refused now", async () => {
    const definition = task({ id: "t", input: z.object({ at: z.date() }), run: () => 1 });
    await expect(made(definition, { at: new Date(0) })).rejects.toMatchObject({ code: "BAD_INPUT" });
  });

  test("that is nothing at all stays nothing, and fits a schema that allows it", async () => {
    const definition = task({ id: "t", input: z.string().optional(), run: () => 1 });
    expect((await made(definition)).input).toBe("");
  });

  test("may decide which pools are asked, as the schema sees it", async () => {
    const definition = task({
      id: "t",
      input: schema,
      pools: ({ to }) => ({ [`tenant=${to}`]: 2, gpu: 1 }),
      run: () => 1,
    });
    expect(await asks(definition, { to: "ann" })).toEqual({
      cluster: 1,
      "queue:default": 1,
      "pool:tenant=ANN": 2,
      "pool:gpu": 1,
    });
  });
});

describe("pools", () => {
  test.each([
    [{ gpus: 1 }, 'there is no pool "gpus"'],
    [{ tenant: 1 }, "has a limit per value"],
    [{ "tenant=*": 1 }, "has a limit per value"],
    [{ "gpu=a": 1 }, "has one limit for all"],
  ])("that a function answers are checked when they are asked: %o", async (pools, sentence) => {
    const definition = task({ id: "t", pools: () => pools as never, run: () => 1 });
    await expect(made(definition)).rejects.toMatchObject({
      code: "BAD_POOL",
      message: expect.stringContaining(sentence),
    });
  });

  test("are asked as the task says", async () => {
    expect(await asks(task({ id: "t", pools: { gpu: 3 }, run: () => 1 }))).toEqual({
      cluster: 1,
      "queue:default": 1,
      "pool:gpu": 3,
    });
  });

  test.each([0, -1, 1.5, Number.NaN])("cannot be asked for %s slots", async (slots) => {
    const definition = task({ id: "t", pools: () => ({ gpu: slots }), run: () => 1 });
    await expect(made(definition)).rejects.toMatchObject({
      code: "BAD_SLOTS",
      message: expect.stringContaining('pool "gpu"'),
    });
  });

  test("that are asked alike share a lane, in whatever order they are named", async () => {
    const lane = async (pools: Record<string, number>) =>
      (await made(task({ id: "t", pools, run: () => 1 }))).lane.id;
    expect(await lane({ a: 1, b: 2 })).toBe(await lane({ b: 2, a: 1 }));
    expect(await lane({ a: 1, b: 2 })).not.toBe(await lane({ a: 1, b: 1 }));
  });
});

describe("what could never start", () => {
  test("can only be an ask for more than one slot", () => {
    const one = { gate: "pool:a", slots: 1 };
    const two = { gate: "pool:b", slots: 2 };
    expect(largeAsks([one, two])).toEqual([two]);
  });

  const refused = (slots: number, limits: Record<string, number | null>, gate = "pool:gpu") => {
    refuseNever([{ gate, slots }], new Map(Object.entries(limits)));
  };

  test("is refused, with the gate, its limit and what was asked", () => {
    let thrown: unknown;
    try {
      refused(5, { "pool:gpu": 4 });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({
      code: "ASKS_TOO_MUCH",
      details: { gate: "pool:gpu", limit: 4, asked: 5 },
      message: expect.stringContaining('sluice.limits.set("pool:gpu", 5)'),
    });
  });

  test("is measured by the family's limit where a value has none of its own", () => {
    const gate = "pool:tenant=acme";
    expect(() => refused(3, { "pool:tenant=*": 2 }, gate)).toThrow(/tenant=acme/);
    expect(() => refused(3, { "pool:tenant=*": 2, [gate]: 3 }, gate)).not.toThrow();
    expect(() => refused(3, { "pool:tenant=*": 5, [gate]: 2 }, gate)).toThrow(/tenant=acme/);
  });

  test("is not what fits, nor what waits for a limit, a pause or room", () => {
    expect(() => refused(4, { "pool:gpu": 4 })).not.toThrow();
    expect(() => refused(4, { "pool:gpu": -1 })).not.toThrow();
    expect(() => refused(4, { "pool:gpu": null })).not.toThrow();
    expect(() => refused(4, {})).not.toThrow();
    expect(() => refused(4, { "pool:gpu": 0 })).not.toThrow();
  });
});
