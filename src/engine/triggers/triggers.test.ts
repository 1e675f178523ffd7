import { describe, expect, test } from "vitest";
import { everyMinute, MINUTE, World } from "../../../test/support/trigger-world.ts";
import { sensor } from "../../core/schedule/definition.ts";
import { triggersOf } from "../../core/schedule/trigger.ts";

describe("the loop", () => {
  test("only polls for an app without triggers: no news of runs wakes it", async () => {
    const world = new World();
    const engine = await world.start({});
    expect(world.env.planned).toEqual([1_000]);
    engine.wake();
    expect(world.env.planned).toEqual([1_000]);
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
