import { describe, expect, test } from "vitest";
import { z } from "zod";
import { schedule } from "../core/schedule/definition.ts";
import { task } from "../core/task/definition.ts";
import { workflow } from "../core/workflow/definition.ts";
import type { Reference } from "../core/workflow/reference.ts";
import { openMemory } from "../store/memory/index.ts";
import { FakeClock } from "../testing/clock.ts";
import { FakeEnv } from "../testing/fake-env.ts";
import { defineApp } from "./app.ts";
import { declarationOf } from "./declaration.ts";
import { Schedules } from "./schedules.ts";

const HOUR = 3_600_000;
const NOON = Date.UTC(2026, 0, 1, 12);
const dated = workflow({ id: "dated", steps: (_, input: Reference<{ day: string }>) => input.day });

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
  // A schedule that was set at run time belongs to no app, and is due all the same.
  await store.setTrigger(
    { ...row, kind: "schedule", name: "set-schedule s", spec: '{"cron":"0 18 * * *"}' },
    "ann",
  );
  expect((await schedules.list()).map(({ id, nextAt }) => [id, nextAt])).toContainEqual([
    "s",
    NOON + 6 * HOUR,
  ]);
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

describe("a schedule set at run time", () => {
  const mail = task({ id: "mail", input: z.object({ to: z.string() }), pools: { smtp: 1 }, run: () => {} });
  const noted = workflow({ id: "noted", steps: (s) => s.step("mail", mail, { to: "a" }, { pools: {} }) });
  const setting = async () => {
    const { env, store } = await world();
    const app = defineApp({ tasks: [mail], workflows: [noted], pools: { smtp: { limit: 1 } } });
    return { env, store, schedules: new Schedules(store, app, env) };
  };

  test("is listed with who set it, is changed by a second one, and removed", async () => {
    const { schedules } = await setting();
    const daily = { task: mail, cron: "0 18 * * *", input: { to: "a" } };
    expect(await schedules.set("nags", daily, "ann")).toEqual({ created: true });
    const view = { id: "nags", name: "set-schedule nags", kind: "schedule", app: null, setBy: "ann" };
    expect(await schedules.list()).toMatchObject([
      { ...view, task: "mail", workflow: null, nextAt: NOON + 6 * HOUR, spec: { input: { to: "a" } } },
    ]);
    expect(await schedules.set("nags", { workflow: "noted", cron: "0 15 * * *" })).toEqual({
      created: false,
    });
    expect(await schedules.list()).toMatchObject([{ workflow: "noted", task: null, setBy: "code" }]);
    await schedules.pause("nags");
    expect(await schedules.list()).toMatchObject([{ paused: true }]);
    await schedules.remove("nags");
    expect(await schedules.list()).toEqual([]);
    await expect(schedules.remove("nags")).rejects.toMatchObject({ code: "UNKNOWN_SCHEDULE" });
  });

  test("starts at once what it would start, if told to", async () => {
    const { schedules, store } = await setting();
    await schedules.set("nags", { task: mail, cron: "0 18 * * *", input: { to: "a" }, priority: 3 });
    await schedules.set("notes", { workflow: noted, cron: "0 18 * * *", tags: { env: "prod" } });
    const one = await schedules.trigger("nags");
    expect(await store.task(one.id)).toMatchObject({ name: "mail", input: '{"to":"a"}', priority: 3 });
    const two = await schedules.trigger("set-schedule notes", "ann");
    const source = "set-schedule notes, by ann";
    expect((await store.run(two.id))?.run).toMatchObject({
      workflow: "noted",
      source,
      tags: '{"env":"prod"}',
    });
  });

  test("does not meet a declared one of the same id: each has its full name", async () => {
    const { env, store, declare } = await world();
    await declare("0 18 * * *");
    const { schedules } = {
      schedules: new Schedules(store, defineApp({ tasks: [mail], pools: { smtp: { limit: 1 } } }), env),
    };
    await schedules.set("tick", { task: mail, cron: "0 15 * * *", input: { to: "a" } });
    await declare("0 19 * * *");
    expect((await schedules.list()).map(({ name }) => name)).toEqual(["schedule tick", "set-schedule tick"]);
    await expect(schedules.pause("tick")).rejects.toMatchObject({ code: "AMBIGUOUS_ID" });
    await expect(schedules.remove("schedule tick")).rejects.toMatchObject({ code: "DECLARED_SCHEDULE" });
    await schedules.remove("set-schedule tick");
    expect((await schedules.list()).map(({ name }) => name)).toEqual(["schedule tick"]);
  });

  test.each<[string, object, string]>([
    ["an input that does not match", { task: mail, cron: "0 3 * * *", input: { to: 3 } }, "BAD_SCHEDULE"],
    ["an unknown task", { task: "nobody", cron: "0 3 * * *" }, "BAD_SCHEDULE"],
    ["times that are none", { task: mail, cron: "at noon", input: { to: "a" } }, "BAD_SCHEDULE"],
    [
      "an unknown field",
      { task: mail, cron: "0 3 * * *", input: { to: "a" }, tiemzone: "UTC" },
      "BAD_SCHEDULE",
    ],
    ["a function", { task: mail, cron: "0 3 * * *", input: () => ({ to: "a" }) }, "BAD_SCHEDULE"],
    ["no object", 3 as never, "BAD_SCHEDULE"],
    ["a tag that is none", { workflow: noted, cron: "0 3 * * *", tags: { "a=b": "c" } }, "BAD_TAG"],
  ])("is refused with %s, and nothing is set", async (_, schedule, code) => {
    const { schedules } = await setting();
    await expect(schedules.set("nags", schedule as never)).rejects.toMatchObject({ code });
    await expect(schedules.set("my nags", schedule as never)).rejects.toMatchObject({ code: "BAD_SCHEDULE" });
    expect(await schedules.list()).toEqual([]);
  });

  test.each<[object, string]>([
    [
      { task: mail, cron: "0 3 * * *", input: { to: "a" }, timezone: "Mars/X" },
      'timezone: there is no time zone "Mars/X". Write it like "Europe/Berlin", or leave it out for UTC.',
    ],
    [{ task: "zz", cron: "0 3 * * *" }, 'task: there is no task "zz" (known: mail).'],
    [
      { task: mail, workflow: noted, cron: "0 3 * * *" },
      "names a task and a workflow. Name one, or write a schedule for each.",
    ],
    [
      { task: mail, cron: "0 3 * * *", tags: { env: "prod" } },
      "tags: tags are for runs, and a task has none. Leave them out.",
    ],
    [
      { task: mail, cron: "*/90 * * * *", input: { to: "a" } },
      'cron: "*/90 * * * *" has a step of 90 in its minute, which has only 60 values.',
    ],
  ])("that is wrong says so once, as a sentence: %j", async (schedule, message) => {
    const { schedules } = await setting();
    const refused = await schedules.set("nags", schedule as never).catch((error: Error) => error.message);
    expect(refused).toContain(`schedule "nags": ${message}`);
    expect(refused).not.toContain("schema");
    expect(refused).not.toContain(";");
  });

  test("needs an input of the type that its task takes", async () => {
    const { schedules } = await setting();
    // @ts-expect-error: the input is missing
    await expect(schedules.set("nags", { task: mail, cron: "0 3 * * *" })).rejects.toThrow(
      "received undefined",
    );
    // @ts-expect-error: the input of the workflow is missing
    const missing = () => schedules.set("nags", { workflow: dated, cron: "0 3 * * *" });
    // @ts-expect-error: the input of the workflow has another type
    const other = () => schedules.set("nags", { workflow: dated, cron: "0 3 * * *", input: { day: 3 } });
    expect([missing, other]).toHaveLength(2);
    // @ts-expect-error: the input has another type
    expect(schedule({ id: "nags", task: mail, cron: "0 3 * * *", input: { to: 3 } })).toBeDefined();
    expect(
      schedule({ id: "nags", task: mail, cron: "0 3 * * *", input: ({ at }) => ({ to: `${at}` }) }),
    ).toBeDefined();
  });
});
