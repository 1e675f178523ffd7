// The task named in onFailure: in line together with the failure, exactly once, whoever decides the failure.

import { expect, test } from "vitest";
import type { Executor, Job } from "../../src/executor/executor.ts";
import { FunctionExecutor } from "../../src/executor/function/function-executor.ts";
import type { Failure } from "../../src/index.ts";
import { defineApp, NonRetryable, task, workflow } from "../../src/index.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { working, worldOf } from "../runs/support/world.ts";

/** A task that keeps what it was told. */
function teller(id = "tell") {
  const told: Failure[] = [];
  const tell = task({
    id,
    run: (failure: Failure) => {
      told.push(failure);
    },
  });
  const heard = (count: number): Promise<Failure[]> =>
    until(async () => told.length >= count && told, `${id} was told ${count} times`);
  return { told, tell, heard };
}

const FAST = { attempts: 3, delay: "0ms" } as const;

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("a task that has used up its attempts is handled once, with its input, its error and its attempt", async () => {
    const { told, tell, heard } = teller();
    const pay = task({
      id: "pay",
      retry: FAST,
      onFailure: tell,
      run: (_: { order: number }) => {
        throw Object.assign(new TypeError("no such card"), { code: "NO_CARD" });
      },
    });
    const sluice = await working(place, { tasks: [pay, tell] });
    const { id } = await sluice.enqueue(pay, { order: 7 });
    await heard(1);
    expect(told).toEqual([
      {
        kind: "task",
        name: "pay",
        id,
        input: { order: 7 },
        state: "failed",
        attempt: 3,
        error: expect.objectContaining({ name: "TypeError", code: "NO_CARD", message: "no such card" }),
      },
    ]);
    expect(await sluice.list({ name: "tell" })).toHaveLength(1);
  });

  test("a second life that fails is handled again; success, cancel and expiry are not handled", async () => {
    const { told, tell, heard } = teller();
    const picky = task({
      id: "picky",
      onFailure: tell,
      run: (bad: boolean) => {
        if (bad) throw new NonRetryable("bad");
      },
    });
    const sluice = await working(place, { tasks: [picky, tell] });
    const bad = await sluice.enqueue(picky, true);
    await heard(1);
    await sluice.retry(bad.id);
    await heard(2);
    const good = await sluice.enqueue(picky, false);
    const late = await sluice.enqueue(picky, true, { delay: "1h" });
    const stale = await sluice.enqueue(picky, true, { delay: "1h", goodUntil: "1ms" });
    await sluice.cancel(late.id);
    expect((await sluice.ended(good.id)).state).toBe("succeeded");
    expect((await sluice.ended(stale.id)).state).toBe("expired");
    expect(told.map(({ id }) => id)).toEqual([bad.id, bad.id]);
    expect(await sluice.list({ name: "tell" })).toHaveLength(2);
  });

  test("a task that its process does not survive is handled when it is quarantined", async () => {
    const { tell, heard } = teller();
    const kills = task({ id: "kills", retry: { attempts: 9, delay: "0ms" }, onFailure: tell, run: () => {} });
    const app = defineApp({ tasks: [kills, tell] });
    const functions = new FunctionExecutor(app.tasks);
    const error = { name: "Error", code: "PROCESS_DIED", message: "Its process died." };
    const executor: Executor = {
      run: async (job: Job) =>
        job.name === "kills" ? { ok: false, crashed: true, retryable: true, error } : functions.run(job),
    };
    const { sluice } = await worldOf(place, app);
    await sluice.worker({ executor });
    const { id } = await sluice.enqueue(kills, undefined);
    expect(await heard(1)).toMatchObject([{ id, state: "quarantined", error: { code: "QUARANTINED" } }]);
    expect(await sluice.list({ name: "tell" })).toHaveLength(1);
  });

  test("a failed step is handled by its task's handler, and its run by that of the workflow", async () => {
    const { tell, heard } = teller();
    const { tell: tellRun, heard: heardRun } = teller("tellRun");
    const fetch = task({
      id: "fetch",
      onFailure: tell,
      run: (_: string) => {
        throw new Error("away");
      },
    });
    const nightly = workflow({
      id: "nightly",
      onFailure: tellRun,
      steps: (s) => s.each("get", ["a", "b"], fetch),
    });
    const sluice = await working(place, { tasks: [fetch, tell, tellRun], workflows: [nightly] });
    const { id } = await sluice.submit(nightly, undefined);
    const ofItems = await heard(2);
    expect(ofItems.map(({ input }) => input).sort()).toEqual(["a", "b"]);
    expect(ofItems).toMatchObject([1, 2].map(() => ({ kind: "task", name: "fetch", run: id, step: "get" })));
    expect(await heardRun(1)).toEqual([
      {
        kind: "workflow",
        name: "nightly",
        id,
        state: "failed",
        attempt: 1,
        error: expect.objectContaining({ code: "STEPS_FAILED", steps: ["get"] }),
      },
    ]);
    expect(await sluice.list({ name: "tellRun" })).toHaveLength(1);
  });

  test("a run that takes too long, and a step that waits too long for its pool, are handled", async () => {
    const { tell, heard } = teller();
    const { tell: tellRun, heard: heardRun } = teller("tellRun");
    const hold = task({
      id: "hold",
      onFailure: tell,
      run: (_: unknown, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    });
    const long = workflow({
      id: "long",
      timeout: "1s",
      onFailure: tellRun,
      steps: (s) => {
        s.step("first", hold, {}, { pools: { one: 1 } });
        s.step("second", hold, {}, { pools: { one: 1 } });
      },
    });
    const sluice = await working(
      place,
      { tasks: [hold, tell, tellRun], workflows: [long], pools: { one: { limit: 1 } } },
      { claimTimeout: "200ms", poll: "50ms", pollJitter: "0ms" },
    );
    const { id } = await sluice.submit(long, undefined);
    expect(await heard(1)).toMatchObject([{ kind: "task", run: id, error: { code: "CLAIM_TIMEOUT" } }]);
    expect(await heardRun(1)).toMatchObject([{ kind: "workflow", id, error: { code: "RUN_TIMEOUT" } }]);
    // The step that held the slot was cancelled with its run.
    expect(await sluice.list({ name: "tell" })).toHaveLength(1);
    expect(await sluice.list({ name: "tellRun" })).toHaveLength(1);
  });

  test("a handler that fails is handled by its own handler", async () => {
    const { tell, heard } = teller();
    const broken = task({
      id: "broken",
      queue: "alarms",
      onFailure: tell,
      run: (_: Failure) => {
        throw new Error("the mail server is away");
      },
    });
    const pay = task({
      id: "pay",
      timeout: "5ms",
      onFailure: broken,
      run: () => new Promise((resolve) => setTimeout(resolve, 200)),
    });
    const sluice = await working(place, {
      tasks: [pay, broken, tell],
      queues: { default: {}, alarms: { maxConcurrency: 1 } },
    });
    await sluice.enqueue(pay, undefined);
    const [failure] = await heard(1);
    expect(failure).toMatchObject({ name: "broken", error: { message: "the mail server is away" } });
    expect(failure?.input).toMatchObject({ name: "pay", error: { code: "TIMEOUT" } });
    expect((await sluice.list({ name: "broken" }))[0]).toMatchObject({ queue: "alarms" });
  });
});
