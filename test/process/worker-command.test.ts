// What happens to tasks when processes die: a child, the whole worker, or a process whose code does not stop.

import { expect, onTestFinished, test } from "vitest";
import type { Sluice } from "../../src/index.ts";
import { connect } from "../../src/index.ts";
import { loadApp } from "../../src/surface/cli/load-app.ts";
import type { Place } from "../e2e/support/places.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { bundledCli } from "../support/bundled-package.ts";
import { openWitness } from "../support/open-witness.ts";
import { isAlive } from "../support/processes.ts";
import type { Witness } from "../support/witness.ts";
import type { WorkerCommand } from "./support/worker-command.ts";
import { newProject, startWorker } from "./support/worker-command.ts";

interface World {
  readonly witness: Witness;
  readonly sluice: Sluice;
  work(...args: string[]): Promise<WorkerCommand>;
  enqueue(input: object, task?: string): Promise<string>;
}

async function worldOn(place: Place, rest?: string): Promise<World> {
  const witness = await openWitness();
  const store = (await place.open()) as string;
  const project = newProject(witness.port, rest);
  await bundledCli();
  const { app } = await loadApp(project.app);
  const sluice = await connect({ store, app, migrate: true });
  onTestFinished(() => sluice.close());
  return {
    witness,
    sluice,
    work: (...args) => startWorker(project, "--store", store, ...args),
    enqueue: async (input, task = "errand") => (await sluice.enqueue(task, input as never)).id,
  };
}

const starts = (witness: Witness, id: string): string[] => witness.startsOf(id).map(({ worker }) => worker);

const hasStarted = (witness: Witness, id: string, times = 1, withinMs?: number): Promise<void> =>
  witness.until((seen) => seen.startsOf(id).length >= times, `${id} has started ${times} times`, withinMs);

const stateOf = async (sluice: Sluice, id: string): Promise<string | undefined> =>
  (await sluice.get(id))?.state;

describeOn(["sqlite", "postgres"], (place) => {
  test("a child that is killed loses its task to another at once, and the attempt counts", async () => {
    const { witness, sluice, work, enqueue } = await worldOn(place);
    const worker = await work("--processes=2");
    const [lost, other] = [await enqueue({ hold: true }), await enqueue({ hold: true })];
    await hasStarted(witness, lost);
    await hasStarted(witness, other);
    const [first = ""] = starts(witness, lost);
    expect(worker.children).toContain(Number(first));
    process.kill(Number(first), "SIGKILL");
    await hasStarted(witness, lost, 2);
    expect(starts(witness, lost)[1]).not.toBe(first);
    witness.letGo();
    await until(async () => (await stateOf(sluice, lost)) === "succeeded", "it succeeds");
    expect(await sluice.get(lost)).toMatchObject({ attempt: 2, losses: 1, result: { attempt: 2 } });
    expect((await sluice.events(lost)).map(({ kind }) => kind)).toContain("TaskLost");
    // The neighbour in the other process was not affected.
    expect(starts(witness, other)).toHaveLength(1);
    expect(worker.output).toContain("was killed by SIGKILL. A new process replaces it.");
  });

  test("a worker that is killed takes its children with it, those with a blocked loop too; another takes over", async () => {
    const { witness, sluice, work, enqueue } = await worldOn(place);
    const worker = await work("--processes=2");
    const held = await enqueue({ hold: true });
    await hasStarted(witness, held);
    const blocked = await enqueue({ blockMs: 3_600_000 });
    await hasStarted(witness, blocked);
    const { children } = worker;
    expect(children).toHaveLength(2);
    worker.signal("SIGKILL");
    await until(() => !children.some(isAlive), "its children are gone");
    await sluice.cancel(blocked);
    await work("--processes=1");
    await hasStarted(witness, held, 2);
    expect(await sluice.get(held)).toMatchObject({ attempt: 2, losses: 1 });
  });

  test("code that blocks its loop for three leases keeps its lease", async () => {
    const { witness, sluice, work, enqueue } = await worldOn(place);
    await work("--processes=1");
    const id = await enqueue({ blockMs: 6_000 });
    await hasStarted(witness, id);
    await until(async () => (await stateOf(sluice, id)) === "succeeded", "it ends", 30_000);
    expect(await sluice.get(id)).toMatchObject({ attempt: 1, losses: 0 });
    expect(starts(witness, id)).toHaveLength(1);
  });

  test("a task that kills its process three times is quarantined, and the worker goes on", async () => {
    const { witness, sluice, work, enqueue } = await worldOn(place);
    await work("--processes=2");
    const poison = await enqueue({ die: true });
    await until(async () => (await stateOf(sluice, poison)) === "quarantined", "it is quarantined", 30_000);
    expect(starts(witness, poison)).toHaveLength(3);
    expect(await sluice.get(poison)).toMatchObject({ attempt: 3, losses: 3, error: { code: "QUARANTINED" } });
    const next = await enqueue({});
    await until(async () => (await stateOf(sluice, next)) === "succeeded", "the next one runs");
  });

  test("a task is not quarantined for its deaf neighbours, and without retry its error names the one", async () => {
    const { witness, sluice, work, enqueue } = await worldOn(place);
    const worker = await work("--processes=1", "--concurrency=4", "--stop-grace=200ms");
    const [good, once] = [await enqueue({ hold: true }), await enqueue({ hold: true }, "once")];
    await hasStarted(witness, once);
    const hogs: string[] = [];
    for (const round of [1, 2, 3]) {
      await hasStarted(witness, good, round);
      hogs.push(await enqueue({}, "hog"));
    }
    await hasStarted(witness, good, 4);
    witness.letGo();
    await until(async () => (await stateOf(sluice, good)) === "succeeded", "it succeeds");
    expect(await sluice.get(good)).toMatchObject({ attempt: 4, losses: 0 });
    const words = `task "hog" ${hogs[0]} in it did not stop within 200ms of its timeout.`;
    expect(await sluice.get(once)).toMatchObject({
      state: "failed",
      attempt: 1,
      losses: 0,
      error: { code: "PROCESS_ENDED", message: `Its process was ended, because ${words}` },
    });
    for (const hog of hogs)
      expect(await sluice.get(hog)).toMatchObject({ error: { code: "TIMEOUT" }, losses: 0 });
    expect((await sluice.events(good)).map(({ kind }) => kind)).not.toContain("TaskLost");
    expect(worker.output).toContain(`was killed because ${words} A new process replaces it.`);
  });

  test("SIGTERM of idle children ends them without an alarm", async () => {
    const { sluice, work, enqueue } = await worldOn(place);
    const worker = await work("--processes=2");
    const id = await enqueue({});
    await until(async () => (await stateOf(sluice, id)) === "succeeded", "it has worked");
    worker.signal("SIGTERM");
    expect(await worker.ended).toBe(0);
    expect(worker.output).not.toContain("Process ");
    expect(worker.output).toContain("Stopping.");
  });

  test("SIGTERM says of deaf code that it was ended, and not that another takes its place", async () => {
    const { witness, work, enqueue } = await worldOn(place);
    const worker = await work("--processes=2", "--grace", "2s");
    const id = await enqueue({ blockMs: 3_600_000 });
    await hasStarted(witness, id);
    worker.signal("SIGTERM");
    expect(await worker.ended).toBe(0);
    const alarms = worker.output.split("\n").filter((line) => line.includes("Process "));
    expect(alarms).toHaveLength(1);
    expect(alarms[0]).toMatch(/Process \d+ was killed because its code did not stop when told to\.$/);
  });

  test("a task is not held up by one that blocks its loop: 2 processes with 2 each", async () => {
    const { witness, sluice, work, enqueue } = await worldOn(place, 'claimLease: "4s"');
    await work("--processes=2", "--concurrency=2");
    const blocked = await enqueue({ blockMs: 25_000 });
    await hasStarted(witness, blocked);
    const quick: string[] = [];
    // Of three at once, at least one is given to the blocked process first.
    for (let round = 0; round < 3; round += 1)
      quick.push(await enqueue({}), await enqueue({}), await enqueue({}));
    for (const id of quick)
      await until(async () => (await stateOf(sluice, id)) === "succeeded", "it is done");
    expect(await stateOf(sluice, blocked)).toBe("running");
    for (const id of quick) {
      expect(starts(witness, id)).toHaveLength(1);
      expect(await sluice.get(id)).toMatchObject({ attempt: 1, losses: 0 });
    }
  });

  test("a frozen child that is idle holds no slot, and runs nothing that was taken from it when it thaws", async () => {
    const { witness, sluice, work, enqueue } = await worldOn(place, 'claimLease: "4s"');
    const worker = await work("--processes=2");
    const first = await enqueue({});
    await until(async () => (await stateOf(sluice, first)) === "succeeded", "both are up");
    const [frozen = 0] = worker.children;
    process.kill(frozen, "SIGSTOP");
    const ids = [await enqueue({}), await enqueue({}), await enqueue({})];
    for (const id of ids) await until(async () => (await stateOf(sluice, id)) === "succeeded", "it is done");
    if (isAlive(frozen)) process.kill(frozen, "SIGCONT");
    const last = [await enqueue({}), await enqueue({})];
    for (const id of last) await until(async () => (await stateOf(sluice, id)) === "succeeded", "it is done");
    for (const id of ids) {
      expect(starts(witness, id)).toHaveLength(1);
      expect(await sluice.get(id)).toMatchObject({ attempt: 1, losses: 0 });
    }
  });

  test("what no process of a worker can begin within the claim lease goes to another worker, with its attempts", async () => {
    const { witness, sluice, work, enqueue } = await worldOn(place, 'claimLease: "2s"');
    await work("--processes=1", "--concurrency=2");
    const blocked = await enqueue({ blockMs: 60_000 });
    await hasStarted(witness, blocked);
    const behind = await enqueue({});
    await until(
      async () => (await sluice.events(behind)).some(({ kind }) => kind === "TaskReturned") || undefined,
      "it is given back",
    );
    await work("--processes=1");
    await until(async () => (await stateOf(sluice, behind)) === "succeeded", "it is done elsewhere", 40_000);
    expect(await stateOf(sluice, blocked)).toBe("running");
    expect(await sluice.get(behind)).toMatchObject({ attempt: 1, losses: 0 });
    expect(starts(witness, behind)).toHaveLength(1);
  });

  test("SIGTERM lets what runs end, returns what has not begun with its attempts, and ends with 0", async () => {
    const { witness, sluice, work, enqueue } = await worldOn(place, 'prefetch: 2, claimLease: "5s"');
    const worker = await work("--processes=1");
    const running = await enqueue({ hold: true });
    await hasStarted(witness, running);
    const ahead = [await enqueue({}), await enqueue({})];
    for (const id of ahead)
      await until(async () => (await stateOf(sluice, id)) === "claimed", "it is claimed ahead");
    worker.signal("SIGTERM");
    for (const id of ahead)
      await until(async () => (await stateOf(sluice, id)) === "waiting", "it is back in line");
    expect(starts(witness, running)).toHaveLength(1);
    witness.letGo();
    expect(await worker.ended).toBe(0);
    expect(await stateOf(sluice, running)).toBe("succeeded");
    for (const id of ahead) expect(await sluice.get(id)).toMatchObject({ state: "waiting", attempt: 0 });
  });

  test("what outlives the grace period is aborted by its signal and given back, deaf code by force", async () => {
    const { witness, sluice, work, enqueue } = await worldOn(place);
    const worker = await work("--processes=2", "--grace", "8s");
    const ids = [await enqueue({ hold: true }), await enqueue({ blockMs: 3_600_000 })];
    for (const id of ids) await hasStarted(witness, id);
    worker.signal("SIGTERM");
    expect(await worker.ended).toBe(0);
    for (const id of ids)
      expect(await sluice.get(id)).toMatchObject({ state: "waiting", attempt: 0, losses: 0 });
  });

  test("a second SIGTERM does not wait", async () => {
    const { witness, work, enqueue } = await worldOn(place);
    const worker = await work("--processes=1");
    const id = await enqueue({ hold: true });
    await hasStarted(witness, id);
    const { children } = worker;
    worker.signal("SIGTERM");
    await until(() => worker.output.includes("Stopping: waiting for 1 task"), "it was heard");
    // Signals in quick succession may be one key press heard twice.
    const again = setInterval(() => worker.signal("SIGTERM"), 100);
    onTestFinished(() => clearInterval(again));
    expect(await worker.ended).toBe(143);
    await until(() => !children.some(isAlive), "its children are gone");
  });
});
