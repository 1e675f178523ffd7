// When a child dies, its jobs end at once and another child takes its place.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Child } from "../../src/executor/process/child.ts";
import { ChildSeat } from "../../src/executor/process/seat.ts";
import { until } from "../e2e/support/until.ts";
import { isAlive } from "../support/processes.ts";
import { job, newExecutor, pidOf, startExecutor } from "./support/executors.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-process-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const died = (how: string | RegExp) => ({
  ok: false,
  crashed: true,
  retryable: true,
  error: { name: "SluiceError", code: "PROCESS_DIED", message: expect.stringMatching(how) },
});

describe("a child that dies", () => {
  test("ends all its jobs as crashed, and another takes its place", async () => {
    const { executor, pids, deaths } = await startExecutor({ concurrency: 4 });
    const deaf = [job("deaf"), job("deaf"), job("deaf")];
    const endings = deaf.map((each) => executor.run(each));
    await Promise.all(deaf.map(({ begun }) => begun));
    endings.push(executor.run(job("exit", 3)));
    for (const ending of await Promise.all(endings)) expect(ending).toEqual(died("ended with exit code 3"));
    const next = await pidOf(executor);
    expect(next).not.toBe(pids[0]);
    expect(pids).toEqual([pids[0], next]);
    expect(deaths).toMatchObject([{ pid: pids[0], exitCode: 3, signal: null }]);
  });

  test("takes nobody in another child with it", async () => {
    const { executor } = await startExecutor({ processes: 2 });
    const wait = job("wait");
    const ending = executor.run(wait);
    await wait.begun;
    expect(await executor.run(job("exit", 1))).toEqual(died("exit code 1"));
    wait.abort();
    expect(await ending).toMatchObject({ ok: true });
  });

  test("by a signal says which, and what it said before is heard", async () => {
    const { executor } = await startExecutor();
    const killed = job("killed");
    expect(await executor.run(killed)).toEqual(died("was killed by SIGKILL"));
    expect(killed.said).toEqual([{ message: "my last words" }]);
  });

  test("of what nobody caught says what it was", async () => {
    const { executor } = await startExecutor({ onLine: () => {} });
    const ending = await executor.run(job("uncaught"));
    expect(ending).toEqual(died("ended with exit code 1: TypeError: nobody catches this"));
  });

  test("of hunger says so", async () => {
    const { executor } = await startExecutor({
      execArgv: ["--max-old-space-size=80"],
      onLine: () => {},
    });
    expect(await executor.run(job("hungry"))).toEqual(died(/SIGABRT.*memory|exit code 134/));
    await pidOf(executor);
  });

  test("to us, because it closed the channel, is ended and replaced", async () => {
    const { executor, pids } = await startExecutor();
    expect(await executor.run(job("disconnects"))).toEqual(
      died("closed its channel to the worker and stayed alive"),
    );
    expect(await pidOf(executor)).not.toBe(pids[0]);
  });

  test("again and again, with work done in between, is replaced each time, and nothing leaks", async () => {
    const { executor } = await startExecutor({ processes: 2, onLine: () => {} });
    for (let round = 0; round < 5; round += 1) {
      await pidOf(executor);
      expect(await executor.run(job("exit", 1))).toEqual(died("exit code 1"));
    }
    await pidOf(executor);
  });
});

describe("a job for which there is no room", () => {
  test("waits until the replacement is ready", async () => {
    const gate = join(folder, "gate");
    const { executor, died, pids } = await startExecutor({ argv: ["gated", gate] });
    writeFileSync(gate, "");
    await executor.run(job("exit", 1));
    await died(1);
    const waiting = [pidOf(executor), pidOf(executor)];
    rmSync(gate);
    const found = await Promise.all(waiting);
    expect(pids).toHaveLength(2);
    expect(found).toEqual([pids[1], pids[1]]);
  });

  test("ends at once when it is aborted", async () => {
    const gate = join(folder, "gate");
    const { executor, pids } = await startExecutor({ argv: ["gated", gate] });
    writeFileSync(gate, "");
    await executor.run(job("exit", 1));
    const wait = job("wait");
    const ending = executor.run(wait);
    wait.abort();
    expect(await ending).toMatchObject({ ok: false, retryable: true, error: { code: "CANCELLED" } });
    expect(pids).toHaveLength(1);
    rmSync(gate);
    await pidOf(executor);
    expect(wait.said).toEqual([]);
  });

  test("waits through replacements that cannot load, and their words are told", async () => {
    const broken = join(folder, "broken");
    const { executor, died, deaths } = await startExecutor({ argv: ["brokenWhile", broken] });
    writeFileSync(broken, "");
    await executor.run(job("exit", 1));
    const pid = pidOf(executor);
    await died(3);
    rmSync(broken);
    expect(isAlive(await pid)).toBe(true);
    expect(deaths[1]).toMatchObject({ readyMs: undefined, lastWords: { code: "BAD_APP" } });
  });
});

describe("a start", () => {
  test("of an app that cannot be loaded fails with the child's own error", async () => {
    const { executor } = newExecutor({ processes: 2, argv: ["broken"] });
    await expect(executor.start()).rejects.toMatchObject({
      name: "SluiceError",
      code: "PROCESS_NOT_STARTED",
      message: "A child process could not start: app.ts could not be loaded: it is broken.",
      cause: { name: "SluiceError", code: "BAD_APP" },
    });
    await expect(executor.run(job("pid"))).rejects.toMatchObject({ code: "NOT_RUNNING" });
  });

  test("that fails in one child ends the others, too", async () => {
    const { executor, deaths } = newExecutor({ processes: 3, argv: ["brokenForOne", join(folder, "first")] });
    await expect(executor.start()).rejects.toMatchObject({ message: /broken for one/ });
    expect(deaths).toHaveLength(3);
    for (const { pid } of deaths) expect(isAlive(pid as number)).toBe(false);
  });

  test("in which a child ends without a word says how it ended", async () => {
    const { executor } = newExecutor({ argv: ["exits"] });
    await expect(executor.start()).rejects.toMatchObject({
      code: "PROCESS_NOT_STARTED",
      message: /ended with exit code 7 before it was ready/,
    });
  });

  test("for which the machine gives no process fails, and does not throw", async () => {
    // One environment variable may not be this long.
    const { executor } = newExecutor({ env: { ...process.env, MUCH: "x".repeat(200_000) } });
    await expect(executor.start()).rejects.toMatchObject({
      code: "PROCESS_NOT_STARTED",
      message: /E2BIG/,
    });
  });

  test("that is stopped fails, and leaves nothing behind", async () => {
    const { executor, deaths } = newExecutor({ argv: ["hangs"] });
    const started = executor.start();
    await Promise.all([expect(started).rejects.toMatchObject({ code: "WORKER_STOPPED" }), executor.stop()]);
    expect(deaths).toMatchObject([{ signal: "SIGKILL", readyMs: undefined }]);
  });
});

describe("a place whose children die right after their start", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  test("is filled again at once the first time, and then only after a pause", async () => {
    const entry = join(folder, "dies.mjs");
    writeFileSync(entry, 'process.send({ sluice: "ready" }, () => process.exit(1));');
    const dead: Child[] = [];
    const watch = { freed: () => {}, unbegun: () => {}, ready: () => {}, died: () => dead.push(seat.child) };
    const seat: ChildSeat = new ChildSeat({ entry, execArgv: [] }, watch);
    await until(() => dead.length === 2, "the second child dies");
    expect(dead[0]).not.toBe(dead[1]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(seat.child).toBe(dead[1]);
    vi.advanceTimersByTime(100);
    await until(() => dead.length === 3, "the third child dies");
    expect(dead[2]).not.toBe(dead[1]);
    await new Promise((resolve) => setImmediate(resolve));
    // The pause before a restart does not delay leaving.
    await seat.leave({ name: "Error", message: "over" });
    expect(seat.child).toBe(dead[2]);
  });
});
