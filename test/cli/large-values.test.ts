// Values of 10 MB: for people every command shows them short and says so, and for scripts --json has all of them.

import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Reference, Sluice } from "../../src/index.ts";
import { connect, defineApp, task, workflow } from "../../src/index.ts";
import { until } from "../e2e/support/until.ts";
import { gives, newProject, sluice as run, says } from "./terminal.ts";

const LONG = 10_000_000;
/** More than any table with a few rows needs, and far less than what a terminal is slow to print. */
const SHORT = 20_000;
const long = (letter: string): string => letter.repeat(LONG);

const echo = task({ id: "echo", run: (text: string) => text });
const boom = task({
  id: "boom",
  retry: { attempts: 1 },
  run: (_: string): never => {
    throw new Error(long("e"));
  },
});
const half = task({
  id: "half",
  run: async (_: null, { progress, signal }) => {
    progress({ text: long("p") });
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  },
});
const one = workflow({ id: "one", steps: (s, input: Reference<string>) => s.step("only", echo, input) });
const bad = workflow({ id: "bad", steps: (s) => s.step("only", boom, "") });

interface World {
  readonly sluice: Sluice;
  readonly project: string;
}

async function world(): Promise<World> {
  const project = newProject();
  const app = defineApp({
    tasks: [echo, boom, half],
    workflows: [one, bad],
  });
  const sluice = await connect({ store: `file:${join(project, "a.db")}`, app, migrate: true });
  onTestFinished(() => sluice.close({ graceMs: 0 }));
  await sluice.deploy();
  await sluice.worker();
  return { sluice, project };
}

test("a value of 10 MB is shown short by every command, and given whole to scripts", {
  timeout: 240_000,
}, async () => {
  const { sluice, project } = await world();
  const store = ["--store", "file:a.db"];
  const { id: done } = await sluice.enqueue("echo", long("a"));
  const { id: failed } = await sluice.enqueue("boom", long("b"));
  const { id: running } = await sluice.enqueue("half", null);
  const { id: waiting } = await sluice.enqueue("echo", long("w"), { delay: "1h" });
  const { id: good } = await sluice.submit("one", long("r"));
  const { id: broken } = await sluice.submit("bad", null);
  const is = (id: string, state: string) =>
    until(async () => (await sluice.get(id))?.state === state, `${id} is ${state}`);
  await Promise.all([is(done, "succeeded"), is(failed, "failed"), is(waiting, "later")]);
  await Promise.all([sluice.ended(good), sluice.ended(broken)]);
  await until(async () => (await sluice.get(running))?.progress !== undefined, "the progress is stored");

  for (const [command, letters] of [
    [["tasks", "show", done], "a"],
    [["tasks", "show", failed], "be"],
    [["tasks", "show", running], "p"],
    [["tasks", "list"], "ep"],
    [["runs", "show", good], "r"],
    [["runs", "show", good, "--events"], "r"],
    [["runs", "show", broken, "--events"], "e"],
    [["runs", "watch", broken], "e"],
    [["why", failed], "e"],
  ] as const) {
    // To watch a run that failed exits with 1.
    const { stdout: said, stderr } = await run(project, [...command, ...store]);
    expect(stderr).toBe("");
    expect(said.length, command.join(" ")).toBeLessThan(SHORT);
    for (const letter of letters) expect(said, command.join(" ")).toContain(letter.repeat(100));
  }
  for (const command of [
    ["why", waiting],
    ["why", good],
    ["why", broken],
    ["runs", "list"],
    ["queue", "list"],
  ])
    expect((await says(project, ...command, ...store)).length, command.join(" ")).toBeLessThan(SHORT);

  expect(await says(project, "tasks", "show", done, ...store)).toContain("--json prints all of it");
  const [ofTask, ofRun] = await Promise.all([
    gives(project, "tasks", "show", done, ...store),
    gives(project, "runs", "show", good, ...store),
  ]);
  for (const [value, letter] of [
    [ofTask.input, "a"],
    [ofTask.result, "a"],
    [ofRun.input, "r"],
    [ofRun.result, "r"],
  ])
    expect(value === long(letter)).toBe(true);
});
