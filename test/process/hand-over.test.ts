// A job that was given to a child and has not begun can still move: it goes to another child or back in line,
// and exactly one process runs it.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { until } from "../e2e/support/until.ts";
import { isAlive } from "../support/processes.ts";
import type { TestJob } from "./support/executors.ts";
import { job, pidOf, startExecutor } from "./support/executors.ts";

const stop = (pid: number): void => void process.kill(pid, "SIGSTOP");
const go = (pid: number): void => void process.kill(pid, "SIGCONT");

/** Runs jobs that end when told to, given out one after the other, and returns the processes they ran in. */
async function run(executor: { run(job: TestJob): Promise<unknown> }, count: number): Promise<number[]> {
  const jobs = Array.from({ length: count }, () => job("wait"));
  const endings = jobs.map((each) => executor.run(each));
  const pids = await Promise.all(jobs.map(({ begun }) => begun));
  for (const each of jobs) each.abort();
  await Promise.all(endings);
  return pids;
}

describe("a child whose loop is blocked", () => {
  test("holds up nothing while another has room: 2 processes with 2 each", async () => {
    const { executor, pids } = await startExecutor({ processes: 2, concurrency: 2 });
    const block = job("blockFor", 25_000);
    const blocked = executor.run(block);
    const pid = await block.begun;
    const other = pids.find((each) => each !== pid);
    // The first job goes to the idle child, the second could go to either, and the third fits only in the
    // blocked one.
    const jobs = [job("wait"), job("wait")];
    const endings = jobs.map((each) => executor.run(each));
    expect(await Promise.all(jobs.map(({ begun }) => begun))).toEqual([other, other]);
    for (const each of jobs) each.abort();
    for (const ending of await Promise.all(endings)) expect(ending).toMatchObject({ ok: true });
    expect(await run(executor, 2)).toEqual([other, other]);
    process.kill(pid, "SIGKILL");
    expect(await blocked).toMatchObject({ crashed: true });
  });

  test("takes part again once it answers, and what it let pass ran once", async () => {
    const { executor, pids } = await startExecutor({ processes: 2, concurrency: 2 });
    const block = job("blockFor", 1_500);
    const blocked = executor.run(block);
    await block.begun;
    const jobs = [job("wait"), job("wait"), job("wait")];
    const endings = jobs.map((each) => executor.run(each));
    const begun = await Promise.all(jobs.map((each) => each.begun));
    expect(await blocked).toEqual({ ok: true, result: '"held"' });
    expect(new Set(begun)).toEqual(new Set(pids));
    for (const each of jobs) expect(each.said).toHaveLength(1);
    for (const each of jobs) each.abort();
    await Promise.all(endings);
  });

  test("does not cost its own code anything when a job that it was given is aborted", async () => {
    const { executor, deaths } = await startExecutor({ concurrency: 2, stopGraceMs: 100 });
    const block = job("blockFor", 1_500);
    const blocked = executor.run(block);
    await block.begun;
    const unbegun = job("wait");
    const ending = executor.run(unbegun);
    unbegun.abort();
    expect(await ending).toMatchObject({ ok: false, begun: false, error: { code: "CANCELLED" } });
    expect(await blocked).toEqual({ ok: true, result: '"held"' });
    expect(unbegun.said).toEqual([]);
    expect(deaths).toEqual([]);
  });
});

describe("a child that is frozen", () => {
  test("does not keep what it was given, and does not run it when it thaws", async () => {
    const { executor, pids } = await startExecutor({ processes: 2 });
    const [frozen = 0, other] = pids;
    stop(frozen);
    // With the other child busy, the next job can only go to the frozen one. It is taken back and waits for
    // the other.
    const jobs = [job("wait"), job("wait")] as const;
    const endings = jobs.map((each) => executor.run(each));
    const first = await Promise.race(jobs.map(async (each) => [each, await each.begun] as const));
    expect(first[1]).toBe(other);
    first[0].abort();
    const second = jobs.find((each) => each !== first[0]) as TestJob;
    expect(await second.begun).toBe(other);
    go(frozen);
    expect(await pidOf(executor)).toBe(frozen);
    for (const each of jobs) expect(each.said).toHaveLength(1);
    second.abort();
    await Promise.all(endings);
  });

  test("while nothing runs in it is replaced before long, and a job that waits for it gets the next one", async () => {
    const { executor, pids, deaths, died } = await startExecutor();
    const [frozen = 0] = pids;
    stop(frozen);
    const pid = await pidOf(executor);
    expect(pid).not.toBe(frozen);
    await died(1);
    expect(deaths).toMatchObject([{ pid: frozen, killedFor: "silent" }]);
    expect(isAlive(frozen)).toBe(false);
  });

  test("a hundred times at random moments: each job runs exactly once", async () => {
    const { executor, pids } = await startExecutor({ processes: 3, concurrency: 2 });
    const marks = join(mkdtempSync(join(tmpdir(), "sluice-marks-")), "marks");
    onTestFinished(() => rmSync(dirname(marks), { recursive: true }));
    const stopped = { freezing: true };
    const freezing = (async () => {
      for (let round = 0; stopped.freezing; round += 1) {
        const pid = pids[round % 3] as number;
        if (isAlive(pid)) stop(pid);
        await new Promise((resolve) => setTimeout(resolve, (round * 37) % 320));
        if (isAlive(pid)) go(pid);
      }
    })();
    const one = async (n: number): Promise<void> => {
      expect(await executor.run(job("marks", marks, { id: `n${n}` }))).toMatchObject({ ok: true });
    };
    await Promise.all(
      Array.from({ length: 6 }, async (_, lane) => {
        for (let n = 0; n < 100; n += 1) await one(lane * 100 + n);
      }),
    );
    stopped.freezing = false;
    await freezing;
    // Any child that was frozen before reading its jobs has read them now.
    await run(executor, 6);
    const ran = readFileSync(marks, "utf8").trim().split("\n");
    expect([ran.length, new Set(ran).size]).toEqual([600, 600]);
  });
});

describe("a job that no child begins", () => {
  test("ends as not begun when its time to begin is over, wherever it is", async () => {
    const { executor } = await startExecutor({ concurrency: 2 });
    const block = job("blockFor", 2_500);
    const blocked = executor.run(block);
    await block.begun;
    const late = [
      job("wait", null, { beginBy: performance.now() + 600 }),
      job("wait", null, { beginBy: performance.now() + 600 }),
      job("wait", null, { beginBy: performance.now() - 1 }),
    ];
    for (const ending of await Promise.all(late.map((each) => executor.run(each))))
      expect(ending).toMatchObject({ ok: false, begun: false, error: { code: "NOT_BEGUN" } });
    // The child's one free place is useless until the child is unblocked.
    expect(executor.blocked()).toBe(1);
    expect(await blocked).toMatchObject({ ok: true });
    await pidOf(executor);
    expect(executor.blocked()).toBe(0);
    for (const each of late) expect(each.said).toEqual([]);
  });

  test("goes first once there is room: those that came later do not overtake it", async () => {
    const { executor } = await startExecutor({ concurrency: 2 });
    const order: string[] = [];
    const block = job("blockFor", 1_000);
    const blocked = executor.run(block);
    await block.begun;
    const named = (id: string): TestJob => job("wait", null, { id, begins: () => order.push(id) });
    const jobs = ["first", "second", "third"].map(named);
    const endings = jobs.map((each) => executor.run(each));
    await blocked;
    for (const [index, each] of jobs.entries()) {
      await until(() => order.length > index, "it begins");
      each.abort();
    }
    await Promise.all(endings);
    expect(order).toEqual(["first", "second", "third"]);
  });
});
