import { describe, expect, test } from "vitest";
import type { AppDefinition } from "../../core/app/definition.ts";
import type { Success } from "../../core/schedule/automation.ts";
import { automation, newer, schedule, sensor, succeeded } from "../../core/schedule/definition.ts";
import type { AppTrigger } from "../../core/schedule/trigger.ts";
import { triggersOf } from "../../core/schedule/trigger.ts";
import { laneOf } from "../../store/lane.ts";
import type { MemoryStore } from "../../store/memory/index.ts";
import { openMemory } from "../../store/memory/index.ts";
import type { NewRun } from "../../store/runs.ts";
import { RUNS } from "../../store/runs.ts";
import type { Store } from "../../store/store.ts";
import { FakeClock } from "../../testing/clock.ts";
import { FakeEnv } from "../../testing/fake-env.ts";
import type { ToRun } from "./decision.ts";
import { Triggers } from "./triggers.ts";

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1, 0, 0, 30);

type Parts = Pick<AppDefinition, "schedules" | "sensors" | "automations">;

/** A store, its runs in the order they were created, and the successes that the test sets. */
class World {
  readonly env = new FakeEnv(new FakeClock(START));
  readonly store: MemoryStore;
  readonly errors: unknown[] = [];
  readonly successes = new Map<string, Success>();
  /** If set, every run is refused with this error. */
  refusal: Error | undefined;

  constructor() {
    this.env.chance = 0;
    this.store = {
      ...openMemory({ now: this.env.clock.now }),
      lastSuccesses: async (names) => names.flatMap((name) => this.successes.get(name) ?? []),
    };
  }

  readonly toRun: ToRun = async (workflow, input, { key, tags, priority, source }): Promise<NewRun> => {
    if (this.refusal) throw this.refusal;
    return {
      id: this.env.newId(),
      name: workflow,
      priority: priority ?? 0,
      lane: laneOf(RUNS, workflow, [{ gate: "runs", slots: 1 }]),
      input: JSON.stringify(input ?? null),
      options: "{}",
      key,
      runAt: null,
      delayMs: null,
      goodUntil: null,
      goodForMs: null,
      direct: false,
      graph: "{}",
      tags: JSON.stringify(tags),
      source,
      rerunOf: null,
      steps: [],
    };
  };

  engine(parts: Parts, store: Store = this.store, toRun = this.toRun): Triggers {
    const app = triggersOf({ tasks: [], ...parts });
    this.declare([...app.schedules, ...app.sensors, ...app.automations]);
    const failed = (error: unknown): void => void this.errors.push(error);
    return new Triggers(store, this.env, { app, owner: OWNER, toRun, pollMs: 1_000, jitterMs: 500, failed });
  }

  /** Declares like the start of a worker. The memory store is done before it returns. */
  declare(triggers: readonly AppTrigger[]): void {
    const declared = triggers.map(({ name, kind, workflow, spec, paused }) => {
      return { name, kind, workflow, spec: JSON.stringify(spec), paused };
    });
    void this.store.declare({ app: OWNER, queues: [], gates: [], triggers: declared });
  }

  async start(parts: Parts): Promise<Triggers> {
    const engine = this.engine(parts);
    await engine.start();
    await this.env.settle();
    return engine;
  }

  async keys(): Promise<(string | null)[]> {
    const runs = await this.store.runs({ limit: 10_000 });
    return runs.reverse().map(({ key }) => key);
  }

  async finish(): Promise<void> {
    for (const { id, state } of await this.store.runs({ limit: 10_000 }))
      if (state === "queued") await this.store.cancel(id, "test");
  }

  succeed(...workflows: readonly string[]): void {
    for (const workflow of workflows)
      this.successes.set(workflow, { workflow, run: this.env.newId(), at: this.env.clock.now() });
  }

  async state(name: string): Promise<Record<string, unknown>> {
    const { triggers } = await this.store.triggers();
    return JSON.parse(triggers.find((trigger) => trigger.name === name)?.state ?? "null");
  }
}

/** The app that owns all triggers here. */
const OWNER = "shop";

const everyMinute = schedule({ id: "tick", workflow: "w", cron: "* * * * *" });

describe("a schedule", () => {
  test("makes a run at each fire time, at its instant, with what it says", async () => {
    const world = new World();
    const tick = { ...everyMinute, input: { a: 1 }, tags: { env: "prod" }, priority: 4 };
    await world.start({ schedules: [tick] });
    await world.env.advance(29_999);
    expect(await world.keys()).toEqual([]);
    await world.env.advance(1);
    const [run] = await world.store.runs({ limit: 10 });
    expect(run).toMatchObject({ workflow: "w", input: '{"a":1}', priority: 4, createdAt: START + 30_000 });
    await world.env.advance(2 * MINUTE);
    expect(await world.keys()).toEqual([
      "schedule:tick:2026-01-01T00:01:00Z",
      "schedule:tick:2026-01-01T00:02:00Z",
      "schedule:tick:2026-01-01T00:03:00Z",
    ]);
    expect(await world.store.activeRuns({ source: "schedule tick" })).toMatchObject({ queued: true });
  });

  test("may make its input from the fire time", async () => {
    const world = new World();
    const input = ({ at }: { at: number }) => ({ day: new Date(at).toISOString() });
    await world.start({ schedules: [{ ...everyMinute, input }] });
    await world.env.advance(MINUTE);
    expect((await world.store.runs({ limit: 1 }))[0]?.input).toBe('{"day":"2026-01-01T00:01:00.000Z"}');
  });

  test("makes up for what it missed, as it is told", async () => {
    const made = async (catchUp: "all" | "last" | "skip"): Promise<number> => {
      const world = new World();
      const parts = { schedules: [{ ...everyMinute, cron: "*/10 * * * *", catchUp }] };
      await (await world.start(parts)).stop();
      world.env.freeze(65 * MINUTE);
      await world.start(parts);
      await world.env.advance(0);
      return (await world.keys()).length;
    };
    expect([await made("all"), await made("last"), await made("skip")]).toEqual([6, 1, 0]);
  });

  test("makes up for hundreds in one go, some at a time", async () => {
    const world = new World();
    const parts = { schedules: [{ ...everyMinute, catchUp: "all" as const }] };
    await (await world.start(parts)).stop();
    world.env.freeze(250 * MINUTE);
    await world.start(parts);
    await world.env.advance(0);
    expect(new Set(await world.keys()).size).toBe(250);
  });

  test("that skips makes no run while one is not over, and says how often", async () => {
    const world = new World();
    await world.start({ schedules: [{ ...everyMinute, overlap: "skip" }] });
    await world.env.advance(3 * MINUTE);
    expect(await world.keys()).toHaveLength(1);
    expect(await world.state("schedule tick")).toMatchObject({ overlapped: 2 });
    await world.finish();
    await world.env.advance(MINUTE);
    expect(await world.keys()).toEqual([
      "schedule:tick:2026-01-01T00:01:00Z",
      "schedule:tick:2026-01-01T00:04:00Z",
    ]);
  });

  test("that is paused makes nothing, and resumed nothing of what it missed", async () => {
    const world = new World();
    await world.start({ schedules: [{ ...everyMinute, catchUp: "all", paused: true }] });
    await world.env.advance(5 * MINUTE);
    await world.store.pauseTrigger("schedule tick", false, "ann");
    await world.env.advance(MINUTE);
    expect(await world.keys()).toEqual(["schedule:tick:2026-01-01T00:06:00Z"]);
  });

  test("that has changed goes by its new times, whoever looks", async () => {
    const world = new World();
    await world.start({ schedules: [{ ...everyMinute, cron: "0 0 1 1 *" }] });
    await world.start({ schedules: [everyMinute] });
    await world.env.advance(MINUTE);
    expect(await world.keys()).toEqual(["schedule:tick:2026-01-01T00:01:00Z"]);
  });

  test("whose run is refused keeps it due, and says why", async () => {
    const world = new World();
    world.refusal = new Error("no such input");
    await world.start({ schedules: [{ ...everyMinute, catchUp: "all" }] });
    await world.env.advance(2 * MINUTE);
    const { stamp } = (await world.store.triggers()).triggers[0] ?? {};
    expect(await world.state("schedule tick")).toMatchObject({ error: { message: "no such input" } });
    await world.env.advance(20_000);
    expect((await world.store.triggers()).triggers[0]?.stamp).toBe(stamp);
    world.refusal = undefined;
    await world.env.advance(1_000);
    expect(await world.keys()).toHaveLength(2);
    expect(await world.state("schedule tick")).not.toHaveProperty("error");
  });

  test("of another app that shares the store is left to it", async () => {
    const world = new World();
    await (await world.start({ schedules: [{ ...everyMinute, id: "other" }] })).stop();
    await world.start({ schedules: [everyMinute] });
    await world.env.advance(MINUTE);
    expect(await world.keys()).toEqual(["schedule:tick:2026-01-01T00:01:00Z"]);
  });
});

describe("a sensor", () => {
  const look = { id: "inbox", every: "30s", timeout: "10s", workflow: "w" } as const;

  test("looks at once and then every interval, each time from its last cursor", async () => {
    const world = new World();
    const cursors: unknown[] = [];
    const run = ({ cursor = 0 }: { cursor: number }) => {
      cursors.push(cursor);
      return { cursor: cursor + 1, submit: [{ key: `k${cursor}`, input: cursor, tags: { n: `${cursor}` } }] };
    };
    const engine = await world.start({ sensors: [sensor({ ...look, tags: { env: "prod" }, run })] });
    await world.env.advance(MINUTE);
    expect(cursors).toEqual([0, 1, 2]);
    expect(await world.keys()).toEqual(["sensor:inbox:k0", "sensor:inbox:k1", "sensor:inbox:k2"]);
    await engine.stop();
    await world.start({ sensors: [sensor({ ...look, run })] });
    await world.env.advance(30_000);
    expect(cursors).toEqual([0, 1, 2, 3]);
  });

  test("that answers without a cursor keeps the one it has", async () => {
    const world = new World();
    const cursors: unknown[] = [];
    const run = ({ cursor }: { cursor?: number }) => {
      cursors.push(cursor);
      return cursors.length === 1 ? { cursor: 7 } : {};
    };
    await world.start({ sensors: [sensor({ ...look, run })] });
    await world.env.advance(60_000);
    expect(cursors.slice(0, 3)).toEqual([undefined, 7, 7]);
  });

  test("that submits a key again makes no second run", async () => {
    const world = new World();
    await world.start({ sensors: [sensor({ ...look, run: () => ({ submit: [{ key: "same" }] }) })] });
    await world.env.advance(5 * MINUTE);
    expect(await world.keys()).toEqual(["sensor:inbox:same"]);
  });

  test("that fails keeps its cursor, says why, and looks again after its interval", async () => {
    const world = new World();
    let looks = 0;
    const run = ({ cursor = 0 }: { cursor: number }) => {
      looks += 1;
      if (looks === 2) throw new Error("mailbox is away");
      return { cursor: cursor + 1, submit: [{ key: `k${cursor}` }] };
    };
    await world.start({ sensors: [sensor({ ...look, run })] });
    await world.env.advance(30_000);
    expect(await world.state("sensor inbox")).toMatchObject({
      cursor: 1,
      error: { message: "mailbox is away" },
    });
    await world.env.advance(29_999);
    expect(looks).toBe(2);
    await world.env.advance(1);
    expect(await world.keys()).toEqual(["sensor:inbox:k0", "sensor:inbox:k1"]);
    expect(await world.state("sensor inbox")).not.toHaveProperty("error");
  });

  test.each<[string, unknown, string]>([
    ["no object", 7, "A sensor must return"],
    ["no key", { submit: [{ input: 1 }] }, "needs a key"],
    ["a key that is too long", { submit: [{ key: "x".repeat(200) }] }, "1 to 178 bytes"],
    ["too much", { submit: Array.from({ length: 1_001 }, (_, i) => ({ key: `${i}` })) }, "1000 runs at once"],
    ["a cursor that is no JSON", { cursor: 1n }, "BigInt"],
  ])("that answers %s is told, and nothing of it is taken", async (_, answer, message) => {
    const world = new World();
    await world.start({ sensors: [sensor({ ...look, run: () => answer as never })] });
    expect(await world.keys()).toEqual([]);
    expect((await world.state("sensor inbox")).error).toMatchObject({
      message: expect.stringContaining(message),
    });
  });

  test("without a workflow, whose submission names none, is told", async () => {
    const world = new World();
    const { workflow: _, ...rest } = look;
    await world.start({ sensors: [sensor({ ...rest, run: () => ({ submit: [{ key: "k" }] }) })] });
    expect((await world.state("sensor inbox")).error).toMatchObject({
      message: expect.stringContaining("workflow"),
    });
  });

  test("that takes too long is aborted, and holds up nobody else meanwhile", async () => {
    const world = new World();
    const signals: AbortSignal[] = [];
    const run = ({ signal }: { signal: AbortSignal }) => {
      signals.push(signal);
      return new Promise<never>(() => {});
    };
    await world.start({ sensors: [sensor({ ...look, timeout: "5m", run })], schedules: [everyMinute] });
    await world.env.advance(5 * MINUTE - 1);
    expect(await world.keys()).toHaveLength(5);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await world.env.advance(1);
    expect(signals[0]?.aborted).toBe(true);
    expect((await world.state("sensor inbox")).error).toMatchObject({
      message: "The sensor did not answer within 5m.",
    });
  });

  test("is not looked through by two processes at once", async () => {
    const world = new World();
    let now = 0;
    let most = 0;
    const run = async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise<void>((resolve) => void world.env.after(3_000, resolve));
      now -= 1;
      return {};
    };
    await Promise.all([1, 2, 3, 4].map(() => world.start({ sensors: [sensor({ ...look, run })] })));
    await world.env.advance(2 * MINUTE);
    expect(most).toBe(1);
  });

  test("of a process that is told to stop is given back as it was", async () => {
    const world = new World();
    let looks = 0;
    const run = () => {
      looks += 1;
      return new Promise<never>(() => {});
    };
    const engine = await world.start({ sensors: [sensor({ ...look, run })] });
    await engine.stop();
    expect((await world.store.triggers()).triggers[0]).toMatchObject({
      busy: false,
      state: "{}",
      nextAt: START,
    });
    await world.start({ sensors: [sensor({ ...look, run })] });
    expect(looks).toBe(2);
  });

  test("of a process that has died is looked through by another, after its time", async () => {
    const world = new World();
    const dead = { ...world.store, fire: () => new Promise<never>(() => {}) };
    void world.engine({ sensors: [sensor({ ...look, run: () => ({ cursor: 1 }) })] }, dead).start();
    await world.env.settle();
    await world.start({ sensors: [sensor({ ...look, run: () => ({ cursor: 2 }) })] });
    await world.env.advance(19_000);
    expect(await world.state("sensor inbox")).toEqual({});
    await world.env.advance(2_000);
    expect(await world.state("sensor inbox")).toMatchObject({ cursor: 2 });
  });
});

describe("an automation", () => {
  test("submits each time all of the others have succeeded", async () => {
    const world = new World();
    await world.start({ automations: [automation({ workflow: "c", when: succeeded("a", "b") })] });
    world.succeed("a");
    await world.env.advance(5_000);
    expect(await world.keys()).toEqual([]);
    world.succeed("b");
    await world.env.advance(5_000);
    expect(await world.keys()).toHaveLength(1);
    world.succeed("b");
    await world.env.advance(5_000);
    expect(await world.keys()).toHaveLength(1);
    world.succeed("a");
    await world.env.advance(5_000);
    expect(await world.keys()).toHaveLength(2);
  });

  test("does not count what was before it was declared", async () => {
    const world = new World();
    world.succeed("a");
    world.env.freeze(1);
    await world.start({ automations: [automation({ workflow: "c", when: succeeded("a") })] });
    await world.env.advance(5_000);
    expect(await world.keys()).toEqual([]);
    world.succeed("a");
    await world.env.advance(2_000);
    expect(await world.keys()).toHaveLength(1);
  });

  test("with newer waits for a run in progress that somebody else has made", async () => {
    const world = new World();
    const options = { key: "by hand", tags: {}, priority: undefined, source: "test" };
    await world.store.submit([{ ...(await world.toRun("c", null, options)), direct: true }]);
    world.succeed("a");
    await world.start({ automations: [automation({ id: "fresh", workflow: "c", when: newer("a") })] });
    await world.env.advance(5_000);
    expect(await world.keys()).toEqual(["by hand"]);
    const [run] = await world.store.runs({ limit: 1 });
    await world.store.cancelRun(run?.id ?? "", "test");
    await world.env.advance(2_000);
    expect(await world.keys()).toHaveLength(2);
  });

  test("with newer waits while a run of its workflow is queued or in progress, whoever made it", async () => {
    const world = new World();
    world.succeed("a");
    await world.start({ automations: [automation({ id: "fresh", workflow: "c", when: newer("a") })] });
    expect(await world.keys()).toHaveLength(1);
    world.env.freeze(10);
    world.succeed("a");
    await world.env.advance(5_000);
    expect(await world.keys()).toHaveLength(1);
    await world.finish();
    await world.env.advance(2_000);
    expect(await world.keys()).toHaveLength(2);
    await world.finish();
    await world.env.advance(5_000);
    expect(await world.keys()).toHaveLength(2);
  });

  test("whose run is refused stays due, and says why", async () => {
    const world = new World();
    world.refusal = new Error("not today");
    world.succeed("a");
    await world.start({ automations: [automation({ workflow: "c", when: newer("a") })] });
    await world.env.advance(3_000);
    expect(await world.state("automation c")).toMatchObject({ error: { message: "not today" } });
    world.refusal = undefined;
    await world.env.advance(1_000);
    expect(await world.keys()).toHaveLength(1);
    expect(await world.state("automation c")).not.toHaveProperty("error");
  });
});

describe("the loop", () => {
  test("does nothing at all for an app without triggers", async () => {
    const world = new World();
    await world.start({});
    expect(world.env.planned).toEqual([]);
  });

  test("goes on after errors of the store, and tells of them", async () => {
    const world = new World();
    let away = true;
    const triggers = () => (away ? Promise.reject(new Error("away")) : world.store.triggers());
    await world.engine({ schedules: [everyMinute] }, { ...world.store, triggers }).start();
    await world.env.advance(10_000);
    expect(world.errors).toHaveLength(11);
    away = false;
    await world.env.advance(MINUTE);
    expect(await world.keys()).toHaveLength(1);
  });

  test.each(["takeTrigger", "fire"] as const)("waits for the poll after a %s that failed", async (verb) => {
    const world = new World();
    let calls = 0;
    const away = async () => {
      calls += 1;
      throw new Error("away");
    };
    const inbox = sensor({ id: "inbox", every: "30s", timeout: "1ms", workflow: "w", run: () => ({}) });
    await world.engine({ sensors: [inbox] }, { ...world.store, [verb]: away }).start();
    await world.env.advance(9_500);
    expect(calls).toBe(verb === "fire" ? 1 : 10);
    expect(world.errors).toHaveLength(calls);
  });

  test("looks at the others when one of them is damaged", async () => {
    const world = new World();
    const engine = world.engine({ schedules: [{ ...everyMinute, id: "a" }, everyMinute] });
    const { schedules } = triggersOf({ tasks: [], schedules: [{ ...everyMinute, id: "a" }, everyMinute] });
    world.declare(schedules.map((each) => (each.id === "a" ? { ...each, spec: {} as never } : each)));
    await engine.start();
    await world.env.advance(MINUTE);
    expect(await world.keys()).toEqual(["schedule:tick:2026-01-01T00:01:00Z"]);
    expect(world.errors.length).toBeGreaterThan(0);
  });

  test("ends with a stop", async () => {
    const world = new World();
    const engine = await world.start({ schedules: [everyMinute] });
    await engine.stop();
    await world.env.advance(5 * MINUTE);
    expect([await world.keys(), world.env.planned]).toEqual([[], []]);
  });
});
