import { describe, expect, test } from "vitest";
import { everyMinute, MINUTE, START, World } from "../../../test/support/trigger-world.ts";
import { setScheduleName } from "../../core/schedule/set-schedule.ts";

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

describe("a schedule of a task", () => {
  const { workflow: _, ...rest } = everyMinute;
  const tick = { ...rest, task: "t" } as const;
  const tasks = async ({ store }: World) => (await store.tasks({ name: "t", limit: 100 })).reverse();

  test("enqueues it at each fire time, once, with what it says", async () => {
    const world = new World();
    const one = { ...tick, input: ({ at }: { at: number }) => at, priority: 4 };
    await Promise.all([world.start({ schedules: [one] }), world.start({ schedules: [one] })]);
    await world.env.advance(2 * MINUTE);
    expect(await tasks(world)).toMatchObject([
      {
        key: "schedule:tick:2026-01-01T00:01:00Z",
        input: `${START + 30_000}`,
        priority: 4,
        state: "waiting",
      },
      { key: "schedule:tick:2026-01-01T00:02:00Z", input: `${START + 90_000}` },
    ]);
    const [, last] = await tasks(world);
    expect(await world.state("schedule tick")).toMatchObject({ lastRun: last?.id });
    expect(await world.keys()).toEqual([]);
  });

  test("that skips waits for its last task, in line or running", async () => {
    const world = new World();
    await world.start({ schedules: [{ ...tick, overlap: "skip" }] });
    await world.env.advance(3 * MINUTE);
    const [first, ...others] = await tasks(world);
    expect(others).toEqual([]);
    expect(await world.state("schedule tick")).toMatchObject({ overlapped: 2 });
    await world.store.cancel(first?.id ?? "", "ann");
    await world.env.advance(MINUTE);
    expect(await tasks(world)).toHaveLength(2);
  });
});

describe("a schedule that was set at run time", () => {
  const spec = {
    cron: "* * * * *",
    timezone: "UTC",
    catchUp: "last",
    overlap: "allow",
    tags: {},
    priority: null,
  };
  const set = (world: World, id: string, more: object, workflow: string | null = null) =>
    world.store.setTrigger(
      {
        name: setScheduleName(id),
        kind: "schedule",
        workflow,
        spec: JSON.stringify({ ...spec, setBy: "ann", ...more }),
        paused: false,
      },
      "ann",
    );

  test("starts a task or a run, also for an app without triggers of its own", async () => {
    const world = new World();
    await world.start({});
    await set(world, "mail", { task: "t", input: { to: "a" } });
    await set(world, "nightly", { tags: { env: "prod" }, priority: 3 }, "w");
    await world.env.advance(MINUTE);
    const at = "2026-01-01T00:01:00Z";
    const [task] = await world.store.tasks({ name: "t", limit: 9 });
    expect(task).toMatchObject({ input: '{"to":"a"}', key: `set-schedule:mail:${at}` });
    const [run] = await world.store.runs({ limit: 9 });
    expect(run).toMatchObject({ workflow: "w", priority: 3, key: `set-schedule:nightly:${at}` });
    expect(run?.source).toBe("set-schedule nightly");
  });

  test("is left to an app that has its task, and goes beside a declared one of the same id", async () => {
    const world = new World();
    await set(world, "tick", { task: "elsewhere" });
    await set(world, "damaged", { task: "t" });
    const { setTrigger } = world.store;
    await setTrigger(
      { name: "set-schedule worse", kind: "schedule", workflow: null, spec: '"{"', paused: false },
      "ann",
    ).catch(() => {});
    await world.start({ schedules: [everyMinute] });
    await world.env.advance(MINUTE);
    expect(await world.keys()).toEqual(["schedule:tick:2026-01-01T00:01:00Z"]);
    expect(await world.store.tasks({ limit: 9, name: "elsewhere" })).toEqual([]);
    expect(await world.store.tasks({ limit: 9, name: "t" })).toHaveLength(1);
  });

  test("that is changed goes by its new times, and one that is removed starts nothing", async () => {
    const world = new World();
    await world.start({});
    await set(world, "mail", { task: "t", cron: "0 0 1 1 *" });
    await world.env.advance(MINUTE);
    await set(world, "mail", { task: "t" });
    await world.env.advance(MINUTE);
    expect(await world.store.tasks({ name: "t", limit: 9 })).toHaveLength(1);
    await world.store.removeTrigger(setScheduleName("mail"), "ann");
    await world.env.advance(5 * MINUTE);
    expect(await world.store.tasks({ name: "t", limit: 9 })).toHaveLength(1);
  });
});
