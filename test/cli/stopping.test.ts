// Code in a child process that was cancelled and does not listen: commands say that it is still stopping and
// what it holds, and nobody gets its slots before its process has ended.

import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Sluice } from "../../src/index.ts";
import { connect } from "../../src/index.ts";
import { loadApp } from "../../src/surface/cli/load-app.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { gives, newProject, says, start } from "./terminal.ts";

/** `deaf` does not look at its signal, and runs until there is a file. `after` says whether `deaf` is still alive. */
const APP = `
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineApp, task, workflow } from "sluice";
const pools = ({ pool }) => ({ [pool]: 1 });
const run = async ({ name }) => {
  writeFileSync(name + ".pid", String(process.pid));
  writeFileSync(name + ".began", "");
  while (!existsSync(name + ".go")) await sleep(10);
};
const deaf = task({ id: "deaf", pools, run });
const deafStep = task({ id: "deaf-step", run });
const after = task({ id: "after", pools, run: ({ name }) => {
  try {
    process.kill(Number(readFileSync(name + ".pid", "utf8")), 0);
    return "alive";
  } catch {
    return "gone";
  }
} });
const flow = workflow({ id: "flow", steps: (s) => s.step("only", deafStep, { name: "step" }, { pools: { two: 1 } }) });
export default defineApp({
  name: "deaf-code",
  tasks: [deaf, deafStep, after],
  workflows: [flow],
  pools: { one: { limit: 1 }, two: { limit: 1 } },
});
`;

interface World {
  readonly sluice: Sluice;
  readonly project: string;
  /** Waits until the code has begun. */
  begins(name: string): Promise<unknown>;
  letGo(name: string): void;
}

async function world(store: string, stopGrace: string): Promise<World> {
  const project = newProject(APP);
  const { app } = await loadApp(join(project, "app.js"));
  const sluice = await connect({ store, app, migrate: true });
  onTestFinished(() => sluice.close());
  const of = ["--store", store, "--processes=2", "--stop-grace", stopGrace];
  const worker = start(project, ["worker", "app.js", ...of]);
  for (const stream of [worker.stdout, worker.stderr]) stream.resume();
  onTestFinished(async () => {
    if (worker.kill("SIGKILL")) await once(worker, "exit");
  });
  return {
    sluice,
    project,
    begins: (name) => until(() => existsSync(join(project, `${name}.began`)), `${name} has begun`, 60_000),
    letGo: (name) => writeFileSync(join(project, `${name}.go`), ""),
  };
}

describeOn(["sqlite"], (place) => {
  test("every listing says what is still stopping, since when and why, until it has ended", async () => {
    const store = (await place.open()) as string;
    const { sluice, project, begins, letGo } = await world(store, "10m");
    const { id: task } = await sluice.enqueue("deaf", { pool: "one", name: "task" } as never);
    const { id: run } = await sluice.submit("flow", undefined);
    const { id: waiting } = await sluice.enqueue("after", { pool: "one", name: "task" } as never);
    await begins("task");
    await begins("step");
    const table = (...args: string[]): Promise<string> => says(project, ...args, "--store", store);
    await table("tasks", "cancel", task);
    await table("runs", "cancel", run);
    const [limits, pool, shownTask, shownRun, why, data] = await Promise.all([
      table("limits", "list"),
      table("pools", "info", "one"),
      table("tasks", "show", task),
      table("runs", "show", run),
      table("why", waiting),
      gives(project, "limits", "list", "--store", store),
    ]);
    expect(limits).toMatch(/^pool:one +1\/1 1 stopping /m);
    expect(limits).toMatch(
      new RegExp(`^${task} deaf, stopping for \\w+ \\(cancelled\\), holds .*pool:one`, "m"),
    );
    expect(pool).toMatch(new RegExp(`task deaf ${task} +1 +.*, stopping for \\w+ \\(cancelled\\)`));
    expect(shownTask).toMatch(/^state +cancelled$/m);
    expect(shownTask).toMatch(
      /^stopping +its code still runs on worker .+, stopping for \w+ \(cancelled\); its slots are freed when it ends$/m,
    );
    expect(shownRun).toMatch(/^stopping +the code of step only still runs on worker .+\(cancelled\)/m);
    expect(why).toMatch(new RegExp(`pool "one" is full: 1 of 1 slots held \\(by ${task} deaf, stopping for`));
    const one = (data as { key: string; stopping: object[] }[]).find(({ key }) => key === "pool:one");
    expect(one?.stopping).toMatchObject([{ unit: task, because: "cancelled", kind: "task" }]);
    for (const name of ["task", "step"]) letGo(name);
    await until(async () => (await sluice.stopping()).length === 0, "all of it has ended");
    expect((await sluice.ended(waiting)).state).toBe("succeeded");
    const later = [await table("limits", "list"), await table("runs", "show", run)];
    for (const text of later) expect(text).not.toContain("stopping");
  });
});

describeOn(["sqlite", "postgres", "mariadb"], (place) => {
  test("a pool of one goes to the next only when the process of the cancelled code is gone", async () => {
    const { sluice, begins } = await world((await place.open()) as string, "1s");
    const { id } = await sluice.enqueue("deaf", { pool: "one", name: "deaf" } as never);
    const next = await sluice.enqueue("after", { pool: "one", name: "deaf" } as never);
    await begins("deaf");
    await sluice.cancel(id);
    expect((await sluice.ended(id)).state).toBe("cancelled");
    expect(await sluice.stopping(id)).toMatchObject([{ unit: id, because: "cancelled" }]);
    expect(await sluice.ended(next.id)).toMatchObject({ state: "succeeded", result: "gone" });
    expect(await sluice.stopping()).toEqual([]);
  });
});
