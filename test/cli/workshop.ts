// A project with workflows, and a worker that is using its embedded store. Tests of commands about runs use
// it.

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import type { Sluice } from "../../src/index.ts";
import { connect } from "../../src/index.ts";
import { until } from "../e2e/support/until.ts";
import type { Ended, Running } from "./terminal.ts";
import { gives, newProject, sluice as run, says, start } from "./terminal.ts";

/**
 * Two steps of a diamond want three of five slots each, so one waits for the other. The other holds its slots
 * until the file named in its run's input exists. Meanwhile small tasks come and go.
 */
const APP = `
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { automation, defineApp, schedule, succeeded, task, workflow } from "sluice";
const quick = task({ id: "quick", run: ({ n }) => ({ n }) });
const held = task({ id: "held", pools: { database: 3 }, run: async ({ file }, { signal, progress }) => {
  progress({ done: 1, of: 4 });
  while (!existsSync(file)) await sleep(10, undefined, { signal });
  return "let go";
} });
const boom = task({ id: "boom", run: () => { throw new Error("no such table"); } });
const diamond = workflow({ id: "diamond", tags: { env: "test" }, steps: (s, input) => {
  const first = s.step("first", quick, { n: 1 });
  const left = s.step("left", held, { file: input.file }, { after: [first] });
  const right = s.step("right", held, { file: input.file }, { after: [first] });
  return s.step("last", quick, { n: 2 }, { after: [left, right] });
} });
const broken = workflow({ id: "broken", steps: (s) => {
  const fine = s.step("fine", quick, { n: 1 });
  const bad = s.step("bad", boom, { n: 1 }, { after: [fine] });
  return s.step("never", quick, { n: 3 }, { after: [bad] });
} });
const cell = task({ id: "cell", run: async ({ n, file }, { signal }) => {
  while (!existsSync(file + n)) await sleep(10, undefined, { signal });
  if (n === 1) throw new Error("cell 1 is empty");
  return n * n;
} });
const sheet = workflow({ id: "sheet", steps: (s, input) => {
  const cells = s.each("cells", [0, 1, 2, 3, 4], cell, { concurrency: 2, input: (n) => ({ n, file: input.file }) });
  return s.step("sum", quick, { n: 1 }, { after: [cells] });
} });
const plain = workflow({ id: "plain", steps: (s, input) => s.step("only", quick, { n: input.n }) });
const asking = workflow({ id: "asking", steps: (s, input) => {
  const paid = s.waitFor("paid", "paid", { match: { order: input.order }, timeout: "2d" });
  const release = s.approve("release", { question: "Release it?", by: ["ana"], after: [paid] });
  const nap = s.sleep("nap", "3h", { mayFail: true });
  return s.step("last", quick, { n: 2 }, { after: [release, nap] });
} });
export default defineApp({
  tasks: [quick, held, boom, cell],
  workflows: [diamond, broken, sheet, plain, asking],
  schedules: [
    schedule({ id: "yearly", workflow: plain, cron: "0 3 1 1 *", timezone: "Europe/Berlin", input: { n: 7 } }),
  ],
  automations: [automation({ id: "follow", workflow: plain, when: succeeded(diamond), input: { n: 8 } })],
  runs: { max: 4, tags: [{ key: "tenant", perValue: true, limit: 1 }] },
  pools: { database: { limit: 5, lease: "5m" } },
});
export async function onDev(sluice, { signal }) {
  for (let n = 0; !signal.aborted; n += 1) {
    await sluice.enqueue("quick", { n });
    await sleep(25);
  }
}
`;

export interface Workshop {
  readonly project: string;
  readonly sluice: Sluice;
  /** The text a command prints for people. */
  table(...args: string[]): Promise<string>;
  // biome-ignore lint/suspicious/noExplicitAny: the JSON a script would get; the test that asked checks it.
  data(...args: string[]): Promise<any>;
  ends(args: readonly string[], running?: Running): Promise<Ended>;
  /** Starts a run of the diamond. Its steps hold until `letGo`. */
  diamond(file: string, ...args: string[]): Promise<string>;
  letGo(file: string): void;
  reaches(run: string, state: string): Promise<unknown>;
  /** Waits until a step of a run reaches a state. */
  stepIs(run: string, step: string, state: string): Promise<unknown>;
}

/** Opens the workshop before the tests of a file and closes it after them. */
export function openWorkshop(): Workshop {
  const shop = {} as { -readonly [Key in keyof Workshop]: Workshop[Key] };
  let worker: ReturnType<typeof start> | undefined;
  afterAll(async () => {
    await shop.sluice?.close();
    // SIGTERM would make it wait for tasks that tests left running.
    if (worker?.kill("SIGKILL")) await once(worker, "exit");
  });
  beforeAll(async () => {
    const project = newProject(APP);
    worker = start(project, ["dev", "app.js", "--no-watch"]);
    await serving(worker.stdout, worker.stderr);
    Object.assign(shop, toolsOf(project, await connect({ store: `file:${join(project, STORE)}` })));
  }, 60_000);
  return shop;
}

const STORE = ".sluice/storage/sluice.db";

async function serving(stdout: NodeJS.ReadableStream, stderr: NodeJS.ReadableStream): Promise<void> {
  let said = "";
  for (const stream of [stdout, stderr])
    stream.on("data", (text: Buffer) => {
      said += text;
    });
  await until(() => said.includes("Press Ctrl-C to stop."), "the worker serves").catch((error: Error) => {
    throw new Error(`${error.message}\n${said}`);
  });
}

function toolsOf(project: string, sluice: Sluice): Workshop {
  const stepOf = async (id: string, name: string) =>
    (await sluice.runs.get(id))?.steps.find((step) => step.name === name);
  return {
    project,
    sluice,
    table: (...args) => says(project, ...args),
    data: (...args) => gives(project, ...args),
    ends: (args, running) => run(project, args, running),
    diamond: async (file, ...args) => {
      const { id } = await gives(project, "submit", "app.js", "diamond", JSON.stringify({ file }), ...args);
      expect(id).toMatch(/^\w{22}$/);
      return id;
    },
    letGo: (file) => writeFileSync(join(project, file), ""),
    reaches: (id, state) =>
      until(async () => (await sluice.runs.get(id))?.state === state, `run ${id} is ${state}`),
    stepIs: (id, step, state) =>
      until(async () => (await stepOf(id, step))?.state === state, `step ${step} of ${id} is ${state}`),
  };
}
