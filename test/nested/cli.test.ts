// The command line shows trees of runs.

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Reference } from "../../src/index.ts";
import { connect, defineApp, task, workflow } from "../../src/index.ts";
import { gives, newProject, says } from "../cli/terminal.ts";
import { until } from "../e2e/support/until.ts";

/** The same app as code for the command line. */
const APP = `
import { defineApp, task, workflow } from "sluice";
const hold = task({ id: "hold", pools: { gpu: 1 }, run: () => 1 });
const pack = workflow({ id: "pack", steps: (s, input) => s.step("box", hold, input) });
const main = workflow({ id: "main", steps: (s, input) => {
  s.group("checks", { parallelism: 2 }, (g) => { g.step("lint", hold, input); g.step("test", hold, input); });
  s.each("each", [1, 2], pack, { input: () => input });
} });
export default defineApp({ tasks: [hold], workflows: [main, pack], pools: { gpu: { limit: 1 } } });
`;

const hold = task({
  id: "hold",
  pools: { gpu: 1 },
  run: async (file: string, { signal }) => {
    while (!existsSync(file)) await sleep(10, undefined, { signal });
  },
});
const pack = workflow({ id: "pack", steps: (s, input: Reference<string>) => s.step("box", hold, input) });
const main = workflow({
  id: "main",
  steps: (s, input: Reference<string>) => {
    s.group("checks", { parallelism: 2 }, (g) => {
      g.step("lint", hold, input);
      g.step("test", hold, input);
    });
    s.each("each", [1, 2], pack, { input: () => input });
  },
});

test("check, runs show, runs list, queue list and why of a tree", { timeout: 120_000 }, async () => {
  const project = newProject(APP);
  expect(await says(project, "check", "app.js")).toMatch(/main .* checks \(lint, test\), each → pack/);
  const data = await gives(project, "check", "app.js");
  expect(data.workflows[0].steps).toMatchObject([
    { name: "checks", group: [{ name: "lint" }, { name: "test" }] },
    { name: "each", workflow: "pack" },
  ]);

  const store = `file:${join(project, "sluice.db")}`;
  const app = defineApp({ tasks: [hold], workflows: [main, pack], pools: { gpu: { limit: 1 } } });
  const sluice = await connect({ store, app, migrate: true });
  onTestFinished(() => sluice.close({ graceMs: 0 }));
  await sluice.worker();
  const file = join(project, "go");
  const { id } = await sluice.submit(main, file);
  const group = await until(async () => {
    const checks = (await sluice.runs.get(id))?.steps.find(({ name }) => name === "checks");
    return checks?.state === "running" && (checks.unit ?? false);
  }, "the group is in progress");
  await until(
    async () => (await sluice.runs.get(group))?.steps.some(({ state }) => state === "waiting"),
    "one of its steps waits for the pool",
  );
  await until(async () => (await sluice.runs.tree(id)).length === 3, "all children are there");
  const tree = await sluice.runs.tree(id);
  expect(tree.map(({ workflow, child }) => [workflow, child?.step, child?.item])).toEqual([
    ["pack", "each", 0],
    ["pack", "each", 1],
    ["checks", "checks", undefined],
  ]);
  expect(await sluice.runs.tree(id, { after: tree[1]?.id as string })).toHaveLength(1);

  const on = ["--store", store];
  const shown = await says(project, "runs", "show", id, ...on);
  expect(shown).toMatch(/^checks +running/m);
  expect(shown).toMatch(/^ {2}lint +\w+/m);
  expect(shown).toMatch(/^each → pack +running/m);
  expect(shown).toMatch(/^ {2}\[0\] +started/m);
  expect(shown).toMatch(/^ {4}box +\w+/m);
  expect(await says(project, "runs", "show", group, ...on)).toMatch(
    new RegExp(`^step of +checks of run ${id}$`, "m"),
  );
  expect((await gives(project, "runs", "list", ...on)).map((run: { id: string }) => run.id)).toEqual([id]);
  expect(await gives(project, "queue", "list", ...on)).toEqual([]);
  const why = await says(project, "why", id, ...on);
  expect(why).toMatch(/step checks \w+ has been running/);
  expect(why).toMatch(/^ {4}step (lint|test) \w+ has been waiting for .*because\n.*pool "gpu"/m);
  const told = await gives(project, "why", id, ...on);
  expect(told.steps[0].steps.map((step: { name: string }) => step.name)).toEqual(["lint", "test"]);
  expect(await says(project, "why", group, ...on)).toMatch(/checks .* has been in progress/);

  writeFileSync(file, "");
  const watched = await says(project, "runs", "watch", id, ...on);
  expect(watched).toMatch(/succeeded/);
});
