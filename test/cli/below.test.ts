// People meet steps that wait somewhere below a run: the commands say where they are, and what they propose works.

import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Reference } from "../../src/index.ts";
import { connect, defineApp, task, workflow } from "../../src/index.ts";
import { until } from "../e2e/support/until.ts";
import { gives, newProject, sluice as run, says } from "./terminal.ts";

const note = task({ id: "note", run: (_: unknown) => 1 });
const fail = task({ id: "fail", run: () => Promise.reject(new Error("broken")) });
const shipping = workflow({
  id: "shipping",
  steps: (s, input: Reference<number>) => {
    s.approve("ok", { question: "Ship it?", by: ["ana"] });
    return s.waitFor("sent", "sent", { match: { n: input } });
  },
});
const failing = workflow({ id: "failing", steps: (s) => s.step("fail", fail) });
const main = workflow({
  id: "main",
  steps: (s) => {
    s.group("grp", (g) => g.approve("gok", { question: "Go?" }));
    s.run("bad", failing, undefined, { mayFail: true });
    s.each("ship", [0, 1], shipping);
  },
});

/** A run all of whose steps have begun. */
async function world() {
  const project = newProject();
  const store = `file:${join(project, "sluice.db")}`;
  const app = defineApp({ tasks: [note, fail], workflows: [main, shipping, failing] });
  const sluice = await connect({ store, app, migrate: true });
  onTestFinished(() => sluice.close({ graceMs: 0 }));
  await sluice.worker();
  const { id } = await sluice.submit(main, undefined);
  const waits = (path: string) => async () => {
    const found = await sluice.runs.find(id, path).catch(() => undefined);
    const step = found && (await sluice.runs.get(found.run))?.steps.find(({ name }) => name === found.step);
    return step?.state === "waiting";
  };
  for (const path of ["grp/gok", "ship[0]/ok", "ship[1]/ok", "ship[1]/sent"]) await until(waits(path), path);
  const on = (...args: string[]): string[] => [...args, "--store", store];
  return {
    id,
    sluice,
    unit: async (path: string) => (await sluice.runs.find(id, path)).unit as string,
    table: (...args: string[]) => says(project, ...on(...args)),
    data: (...args: string[]) => gives(project, ...on(...args)),
    ends: (...args: string[]) => run(project, on(...args)),
  };
}

test("why of the root explains what waits below it, and each command works", {
  timeout: 120_000,
}, async () => {
  const { id, sluice, unit, table, data } = await world();
  const why = await table("why", id);
  expect(why).toMatch(/^ {4}item 1 \w+ is in flight:\n {6}step ok does not go on, because\n/m);
  expect(why).toMatch(/it waits for event "sent" with n 1\n +npx sluice signal sent '\{"n":1, …\}' --app/);
  const told = await data("why", id);
  const item = told.steps.find(({ name }: { name: string }) => name === "ship").inFlight[1];
  expect(item).toMatchObject({
    index: 1,
    unit: await unit("ship[1]"),
    steps: [{ name: "ok" }, { name: "sent" }],
  });

  const commands = [...why.matchAll(/npx sluice (runs approve .*?) --store/g)].map(([, words = ""]) => words);
  expect(commands).toEqual([
    `runs approve ${await unit("grp")} gok`,
    `runs approve ${await unit("ship[0]")} ok --by ana`,
    `runs approve ${await unit("ship[1]")} ok --by ana`,
  ]);
  for (const words of commands) await table(...words.split(" "));
  for (const n of [0, 1]) await sluice.signal("sent", { n });
  expect((await sluice.runs.ended(id)).state).toBe("succeeded");
});

test("a step below a run is found by its path, and by its name at least named", {
  timeout: 120_000,
}, async () => {
  const { id, sluice, unit, table, ends } = await world();
  expect(await ends("runs", "approve", id, "gok")).toMatchObject({
    code: 1,
    stderr: `error UNKNOWN_STEP: run ${id} has no step "gok". Below it there is: grp/gok.\n`,
  });
  await expect(sluice.runs.approve(id, "ok")).rejects.toMatchObject({
    message: expect.stringContaining("Below it there is: ship[0]/ok, ship[1]/ok."),
  });
  await expect(sluice.runs.approve(id, "ship[7]/ok")).rejects.toMatchObject({ code: "UNKNOWN_STEP" });
  expect(await table("why", id, "ship[1]/ok")).toMatch(
    /^shipping \w+ has been in progress .*:\n {2}step ok does/,
  );
  expect(await table("why", id, "grp")).toMatch(/^main\/grp|^grp/);
  expect(await table("why", id, "bad/fail")).toMatch(/^fail \w+ failed /);
  expect(await table("runs", "approve", id, "grp/gok")).toMatch(/^step grp\/gok of run \w+ is approved\./);
  await table("runs", "reject", id, "ship[1]/ok", "--by", "ana");
  await expect(sluice.runs.approve(id, "ship[1]/ok", { by: "ana" })).rejects.toMatchObject({
    code: "NOT_WAITING",
    remedies: [{ action: "explainRun", run: await unit("ship[1]") }],
  });
  await sluice.runs.cancel(id);
});

test("a run is paused and resumed once, and a step's task shows its run", { timeout: 120_000 }, async () => {
  const { id, sluice, unit, table } = await world();
  expect(await table("runs", "resume", id)).toBe(`run ${id} was not paused.\n`);
  expect(await table("runs", "pause", id)).toMatch(/^run \w+ is paused: no more steps start/);
  expect(await table("runs", "resume", id)).toBe(`run ${id} is resumed.\n`);
  const shown = await table("tasks", "show", await unit("bad/fail"));
  expect(shown).toMatch(new RegExp(`^run +${await unit("bad")}\nstep +fail$`, "m"));
  await sluice.runs.cancel(id);
});

test("a child is rerun, paused and resumed with its root, and says so", { timeout: 120_000 }, async () => {
  const { id, sluice, unit, table, ends } = await world();
  const bad = await unit("bad");
  const shown = await table("runs", "show", id);
  for (const path of ["grp", "bad", "ship[0]"]) expect(shown).toContain(await unit(path));
  const rerun = new RegExp(`runs rerun \\S+ ${id} --store`);
  await until(async () => (await sluice.runs.get(bad))?.state === "failed", "the child fails");
  expect(await table("why", bad)).toMatch(rerun);
  expect(await table("why", await unit("bad/fail"))).toMatch(rerun);
  expect(await table("runs", "show", bad)).toMatch(rerun);
  await expect(sluice.retry(await unit("bad/fail"))).rejects.toMatchObject({
    code: "PART_OF_A_RUN",
    remedies: [{ action: "rerun", run: id }],
  });
  expect(await ends("runs", "pause", bad)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      new RegExp(`PART_OF_A_RUN: .* See what it waits for: npx sluice why ${id} `),
    ),
  });
  await sluice.runs.cancel(id);
});
