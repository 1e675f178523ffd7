// A diamond with typed outputs, on every store and with every executor that can run on this machine.

import { expect, onTestFinished, test, vi } from "vitest";
import type { AnyWorkflow, RunInputOf, RunOutputOf } from "../../src/index.ts";
import type { Place } from "../e2e/support/places.ts";
import { describeOn } from "../e2e/support/places.ts";
import { startWorker } from "../process/support/worker-command.ts";
import { builtCli, top } from "../support/built-cli.ts";
import app, { inPool, serial, sideBySide } from "./support/diamond-app.ts";
import type { World } from "./support/world.ts";
import { worldOf } from "./support/world.ts";

const FILE = new URL("support/diamond-app.ts", import.meta.url);
const N = 3;
const SUM = 17;

/** Checks a run of the workflow and returns its pids in the order of its steps. */
async function runs(
  { sluice }: World,
  workflow: typeof serial | typeof sideBySide | typeof inPool,
): Promise<number[]> {
  const { id } = await sluice.submit(workflow, { n: N });
  const run = await sluice.runs.ended<typeof workflow>(id);
  expect(run).toMatchObject({ state: "succeeded", workflow: workflow.id, input: { n: N } });
  expect(run.steps.map(({ name, state, attempt }) => [name, state, attempt])).toEqual(
    ["top", "left", "right", "bottom"].map((name) => [name, "succeeded", 1]),
  );
  const values = run.steps.map(({ result }) => (result as { value: number }).value);
  expect(values).toEqual([N, N + 1, N + 10, SUM]);
  expect(run.result?.sum).toBe(SUM);
  return run.result?.pids ?? [];
}

async function embedded(place: Place): Promise<World> {
  // Children are started from TypeScript here and load the app with the built package.
  await builtCli();
  vi.stubEnv("NODE_OPTIONS", "--import tsx");
  onTestFinished(() => void vi.unstubAllEnvs());
  const world = await worldOf(place, app);
  await world.sluice.worker({ file: FILE, processes: 2 });
  return world;
}

test("what a run takes and gives has the types of its steps", () => {
  const typed = <Workflow extends AnyWorkflow>(
    _: Workflow,
    input: RunInputOf<Workflow>,
    output: RunOutputOf<Workflow>,
  ) => ({ input, output });
  expect(typed(serial, { n: 1 }, { sum: 13, pids: [1, 2, 3, 4] }).output.sum).toBe(13);
  // @ts-expect-error: n is a number.
  typed(serial, { n: "1" }, { sum: 13, pids: [] });
  // @ts-expect-error: sum is a number.
  typed(serial, { n: 1 }, { sum: "13", pids: [] });
});

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("in process, a diamond runs here and gives its result", async () => {
    expect(new Set(await runs(await embedded(place), serial))).toEqual(new Set([process.pid]));
  });

  test("in parallel, a diamond of async steps runs here and gives its result", async () => {
    expect(new Set(await runs(await embedded(place), sideBySide))).toEqual(new Set([process.pid]));
  });

  test("in parallel, a diamond of CPU-bound steps runs in other processes and gives its result", async () => {
    const pids = await runs(await embedded(place), inPool);
    expect(pids).toHaveLength(4);
    expect(pids).not.toContain(process.pid);
  });
});

describeOn(["sqlite", "postgres", "mariadb"], (place) => {
  test("sluice worker runs the diamonds of every executor in its processes", async () => {
    const world = await worldOf(place, app);
    const project = { folder: top, app: FILE.pathname };
    const worker = await startWorker(project, "--store", world.url, "--processes=2");
    for (const workflow of [serial, sideBySide, inPool]) {
      const pids = await runs(world, workflow);
      expect(pids).toHaveLength(4);
      for (const pid of pids) expect(worker.children).toContain(pid);
    }
  });
});
