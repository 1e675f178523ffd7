// Workers whose output has no reader any more, or whose terminal was closed: they go on, and stop when told to.

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Sluice } from "../../src/index.ts";
import { connect } from "../../src/index.ts";
import { loadApp } from "../../src/surface/cli/load-app.ts";
import { until } from "../e2e/support/until.ts";
import { newProject, start } from "./terminal.ts";

/** It prints when it begins and when it is let go, from its own process if it has one. */
const APP = `
import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineApp, task } from "sluice";
const print = (text) => {
  process.stdout.write(text + "\\n");
  process.stderr.write(text + "\\n");
  console.log(text);
};
const held = task({ id: "held", run: async ({ name }) => {
  print(name + " begins");
  writeFileSync(name + ".began", "");
  while (!existsSync(name + ".go")) await sleep(10);
  print(name + " ends");
  await sleep(50);
  return name;
} });
export default defineApp({ name: "unread", tasks: [held] });
`;

interface World {
  readonly sluice: Sluice;
  readonly worker: ChildProcess;
  readonly ended: Promise<number | string>;
  /** Starts a task and waits until its code runs. */
  begin(name: string): Promise<string>;
  letGo(name: string): void;
  /** Waits until the worker has printed it. */
  says(text: string): Promise<unknown>;
  /** Nobody reads what it prints from here on. */
  closeOutput(): void;
}

async function world(...args: string[]): Promise<World> {
  const project = newProject(APP);
  const file = join(project, "store.db");
  const { app } = await loadApp(join(project, "app.js"));
  const sluice = await connect({ store: `file:${file}`, app, migrate: true });
  onTestFinished(() => sluice.close());
  const worker = start(project, [...args, "--store", `file:${file}`]);
  const ended = once(worker, "exit").then(([code, signal]) => signal ?? code);
  let said = "";
  worker.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  worker.stderr.resume();
  onTestFinished(async () => {
    worker.kill("SIGKILL");
    await ended;
  });
  return {
    sluice,
    worker,
    ended,
    begin: async (name) => {
      const { id } = await sluice.enqueue("held", { name } as never);
      await until(() => existsSync(join(project, `${name}.began`)), `${name} has begun`, 60_000);
      return id;
    },
    letGo: (name) => writeFileSync(join(project, `${name}.go`), ""),
    says: (text) => until(() => said.includes(text), `it says ${text}`, 60_000),
    closeOutput: () => {
      worker.stdout.destroy();
      worker.stderr.destroy();
    },
  };
}

describe.each([
  ["worker", ["worker", "app.js", "--processes=1", "--concurrency=2"]],
  ["dev", ["dev", "app.js"]],
  ["dev --no-watch", ["dev", "app.js", "--no-watch"]],
])("%s", (_, args) => {
  test("goes on when nobody reads its output, and SIGTERM stops it properly", async () => {
    const { sluice, worker, ended, begin, letGo, closeOutput } = await world(...args);
    const first = await begin("first");
    closeOutput();
    letGo("first");
    expect(await sluice.ended(first)).toMatchObject({ state: "succeeded", attempt: 1, losses: 0 });
    const second = await begin("second");
    worker.kill("SIGTERM");
    letGo("second");
    expect(await sluice.ended(second)).toMatchObject({ state: "succeeded", attempt: 1, losses: 0 });
    expect(await ended).toBe(0);
  });

  test("stops properly when its terminal is closed, however often it is told so", async () => {
    const { sluice, worker, ended, begin, letGo, closeOutput, says } = await world(...args);
    const id = await begin("only");
    // Code may begin before the worker has printed anything.
    await says("  started");
    worker.kill("SIGHUP");
    await says("Stopping:");
    closeOutput();
    // Signals that come within 200 ms count as one.
    await sleep(300);
    worker.kill("SIGHUP");
    letGo("only");
    expect(await sluice.ended(id)).toMatchObject({ state: "succeeded", attempt: 1, losses: 0 });
    expect(await ended).toBe(0);
  });
});
