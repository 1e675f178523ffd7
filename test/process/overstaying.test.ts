// Code that does not end in time is ended together with its process.

import { describe, expect, test } from "vitest";
import type { Failed } from "../../src/executor/executor.ts";
import { isAlive } from "../support/processes.ts";
import { job, newExecutor, pidOf, startExecutor } from "./support/executors.ts";

/** The ending of a neighbour. */
const bystander = (words: string) => ({
  ok: false,
  bystander: true,
  error: { code: "PROCESS_ENDED", message: `Its process was ended, because ${words}.` },
});

describe("code that blocks its loop", () => {
  test("for longer than its timeout is ended with TIMEOUT; its neighbours are bystanders", async () => {
    const { executor, deaths, died } = await startExecutor({ concurrency: 2, stopGraceMs: 200 });
    const neighbour = job("deaf");
    const other = executor.run(neighbour);
    await neighbour.begun;
    const ending = await executor.run(job("block", null, { timeoutMs: 100 }));
    expect(ending).toMatchObject({
      ok: false,
      retryable: true,
      error: {
        name: "SluiceError",
        code: "TIMEOUT",
        message: /"block" took longer than its timeout of 100ms/,
      },
    });
    expect(ending).not.toHaveProperty("crashed");
    // The answer came before the process ended. Only its end takes the neighbours with it.
    expect(deaths).toEqual([]);
    await (ending as Failed).stopping;
    await died(1);
    expect(await other).toMatchObject(
      bystander('task "block" id of block in it did not stop within 200ms of its timeout'),
    );
    expect(deaths).toMatchObject([{ signal: "SIGKILL", killedFor: "deaf" }]);
    await pidOf(executor);
  });

  test("and is aborted is ended after a while, as aborted", async () => {
    const { executor } = await startExecutor({ stopGraceMs: 100 });
    const block = job("block");
    const ending = executor.run(block);
    const pid = await block.begun;
    block.abort();
    const end = await ending;
    expect(end).toMatchObject({ ok: false, retryable: true, error: { code: "CANCELLED" } });
    expect(end).not.toHaveProperty("crashed");
    // The job ended only when none of its code was running.
    expect(isAlive(pid)).toBe(false);
  });
});

test("code that does not listen to its signal is ended; its neighbours are bystanders, unless aborted, too", async () => {
  const { executor } = await startExecutor({ concurrency: 3, stopGraceMs: 300 });
  const [deaf, alsoDeaf, neighbour] = [job("deaf"), job("deaf"), job("deaf")];
  const endings = [deaf, alsoDeaf, neighbour].map((each) => executor.run(each));
  await Promise.all([deaf.begun, alsoDeaf.begun, neighbour.begun]);
  deaf.abort();
  alsoDeaf.abort();
  const [first, second, third] = await Promise.all(endings);
  expect(first).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
  expect(second).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
  expect(third).toMatchObject(
    bystander('task "deaf" id of deaf in it did not stop within 300ms of its cancel'),
  );
  expect(third).not.toHaveProperty("crashed");
});

describe("a stop", () => {
  test("lets code end that listens, ends code that does not, and takes nothing more", async () => {
    const { executor, pids } = await startExecutor({ processes: 2, stopGraceMs: 600_000 });
    const [wait, block, waiting] = [job("wait"), job("block"), job("wait")];
    const endings = [wait, block, waiting].map((each) => executor.run(each));
    await Promise.all([wait.begun, block.begun]);
    const stopped = executor.stop();
    await expect(executor.run(job("pid"))).rejects.toMatchObject({ code: "NOT_RUNNING" });
    await stopped;
    const [heard, killed, never] = await Promise.all(endings);
    expect(heard).toMatchObject({ ok: true, result: expect.stringContaining("WORKER_STOPPED") });
    expect(killed).toMatchObject({ ok: false, retryable: true, error: { code: "WORKER_STOPPED" } });
    expect(killed).not.toHaveProperty("crashed");
    expect(never).toMatchObject({ ok: false, error: { code: "WORKER_STOPPED" } });
    expect(waiting.said).toEqual([]);
    for (const pid of pids) expect(isAlive(pid)).toBe(false);
  });

  test("of idle children is clean: they leave by themselves, and nobody comes after them", async () => {
    const { executor, deaths, pids } = await startExecutor({ processes: 2 });
    await Promise.all([executor.stop(), executor.stop()]);
    expect(deaths).toMatchObject([{ exitCode: 0 }, { exitCode: 0 }]);
    expect(pids).toHaveLength(2);
  });

  test("by force of idle children is as clean: nothing runs in them that would need it", async () => {
    const { executor, deaths } = await startExecutor({ processes: 2 });
    await executor.halt();
    expect(deaths).toMatchObject([
      { exitCode: 0, killedFor: undefined },
      { exitCode: 0, killedFor: undefined },
    ]);
  });

  test("by force ends code that runs, and says so of that child alone", async () => {
    const { executor, deaths } = await startExecutor({ processes: 2, stopGraceMs: 600_000 });
    const deaf = job("deaf");
    const ending = executor.run(deaf);
    const pid = await deaf.begun;
    await executor.halt();
    expect(await ending).toMatchObject({ ok: false });
    expect(deaths.find((each) => each.pid === pid)).toMatchObject({ killedFor: "deaf" });
    expect(deaths.find((each) => each.pid !== pid)).toMatchObject({ exitCode: 0, killedFor: undefined });
  });

  test("before the start leaves nothing to do", async () => {
    const { executor } = newExecutor();
    await executor.stop();
    await expect(executor.run(job("pid"))).rejects.toMatchObject({ code: "NOT_RUNNING" });
    await expect(executor.start()).rejects.toMatchObject({ code: "STARTED" });
  });
});

test("signals to the whole group are for the parent: children go on", async () => {
  const { executor, pids } = await startExecutor();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.kill(pids[0] as number, signal);
  expect(await pidOf(executor)).toBe(pids[0]);
});
