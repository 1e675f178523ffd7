import { expect, test } from "vitest";
import { schedule } from "../core/schedule/definition.ts";
import { task } from "../core/task/definition.ts";
import { workflow } from "../core/workflow/definition.ts";
import { openMemory } from "../store/memory/index.ts";
import { FakeClock } from "../testing/clock.ts";
import { FakeEnv } from "../testing/fake-env.ts";
import { defineApp } from "./app.ts";
import { declarationOf } from "./declaration.ts";
import { Schedules } from "./schedules.ts";

const HOUR = 3_600_000;
const NOON = Date.UTC(2026, 0, 1, 12);

async function world() {
  const env = new FakeEnv(new FakeClock(NOON));
  const store = openMemory({ now: env.clock.now });
  const only = task({ id: "t", run: (n: number) => n });
  const plain = workflow({ id: "plain", steps: (s) => s.step("only", only, 1) });
  const declare = (cron: string, catchUp: "last" | "skip" = "last") => {
    const app = defineApp({
      tasks: [only],
      workflows: [plain],
      schedules: [schedule({ id: "tick", workflow: plain, cron, catchUp })],
    });
    return store.declare(declarationOf(app, "shop"), "deploy");
  };
  const schedules = new Schedules(store, undefined, env);
  const nextAt = async () => (await schedules.list())[0]?.nextAt;
  return { env, store, schedules, declare, nextAt };
}

test("a schedule is due at its next fire time, although no worker has looked at it", async () => {
  const { env, schedules, declare, nextAt } = await world();
  await declare("0 18 * * *");
  expect(await nextAt()).toBe(NOON + 6 * HOUR);
  await declare("0 15 * * *");
  expect(await nextAt()).toBe(NOON + 3 * HOUR);
  await schedules.pause("tick");
  env.freeze(4 * HOUR);
  await schedules.resume("tick");
  expect(await nextAt()).toBe(NOON + 27 * HOUR);
});

test("only what will start or look by itself has a time: nothing that is paused or gone, and no automation", async () => {
  const env = new FakeEnv(new FakeClock(NOON));
  const store = openMemory({ now: env.clock.now });
  const schedules = new Schedules(store, undefined, env);
  const row = { workflow: null, spec: '{"everyMs":1}', paused: false } as const;
  const triggers = (["sensor", "automation"] as const).map((kind) => ({ ...row, kind, name: `${kind} x` }));
  await store.declare({ app: "shop", queues: [], gates: [], triggers });
  const times = async () => (await schedules.list()).map(({ kind, nextAt }) => [kind, nextAt]);
  expect(await times()).toEqual([
    ["automation", null],
    ["sensor", NOON],
  ]);
  for (const { name } of triggers) await schedules.pause(name);
  expect(await times()).toEqual([
    ["automation", null],
    ["sensor", null],
  ]);
  await store.declare({ app: "shop", queues: [], gates: [], triggers: [] });
  expect((await schedules.list()).filter(({ nextAt }) => nextAt !== null)).toEqual([]);
});

test("a schedule that missed its time is due, unless it skips what it missed", async () => {
  const { env, declare, nextAt } = await world();
  await declare("0 15 * * *");
  env.freeze(4 * HOUR);
  expect(await nextAt()).toBe(NOON + 3 * HOUR);
  await declare("0 15 * * *", "skip");
  expect(await nextAt()).toBe(NOON + 27 * HOUR);
});

test("a schedule whose row is corrupt is listed all the same", async () => {
  const { store, env, declare } = await world();
  await declare("0 15 * * *");
  const { now, triggers } = await store.triggers();
  const corrupt = triggers.map((row) => ({ ...row, spec: "{" }));
  const schedules = new Schedules(
    { ...store, triggers: async () => ({ now, triggers: corrupt }) },
    undefined,
    env,
  );
  expect(await schedules.list()).toMatchObject([{ id: "tick", nextAt: NOON, spec: "{" }]);
});
