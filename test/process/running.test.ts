// Attempts in real child processes behave as they do in our own process.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SluiceError } from "../../src/core/error.ts";
import type { ClientCall } from "../../src/core/task/client-call.ts";
import type { Failed } from "../../src/executor/executor.ts";
import type { ProcessExecutor } from "../../src/executor/process/process-executor.ts";
import type { ChildLine } from "../../src/executor/process/spawn.ts";
import { entry } from "./support/child-entry.ts";
import { job, newExecutor, pidOf, startExecutor } from "./support/executors.ts";

/** One child for all tests that do it no harm. */
let executor: ProcessExecutor;
let pids: readonly number[];
beforeAll(async () => {
  ({ executor, pids } = newExecutor({ shared: true }));
  await executor.start();
});
afterAll(() => executor.stop());

describe("an attempt in a child", () => {
  test("is given its input, its id, attempt and fence, in another process, and its result is kept as JSON", async () => {
    const ending = await executor.run(job("echo", { n: 4 }, { id: "id1", attempt: 3, fence: 2 ** 40 }));
    expect(ending).toEqual({
      ok: true,
      result: JSON.stringify({ input: { n: 4 }, id: "id1", attempt: 3, fence: 2 ** 40 }),
    });
    expect(await pidOf(executor)).toBe(pids[0]);
    expect(pids[0]).not.toBe(process.pid);
  });

  test("may say how far it is and what it did, all of it before its end", async () => {
    const talk = job("talk");
    expect(await executor.run(talk)).toEqual({ ok: true, result: "null" });
    expect(talk.said).toEqual([
      { progress: { done: 3 } },
      { progress: null },
      { message: "half way", data: { n: 1 } },
      { message: "done" },
    ]);
  });

  test("that fails tells its error whole, and whether it may be retried", async () => {
    const ending = await executor.run(job("fail"));
    expect(ending).toMatchObject({
      ok: false,
      retryable: false,
      error: { name: "TypeError", code: "NOTHING", message: "no such thing" },
    });
    expect(ending).toHaveProperty("error.stack", expect.stringContaining(entry));
    expect(ending).not.toHaveProperty("crashed");
  });

  test("that says when to try again, or that it is no use, is heard outside of its process", async () => {
    expect(await executor.run(job("steer", "5m"))).toMatchObject({
      retryable: true,
      next: { inMs: 300_000 },
    });
    expect(await executor.run(job("steer"))).toMatchObject({
      retryable: false,
      error: { name: "TypeError", message: "no use" },
    });
  });

  test("may ask for something, and each call gets its own answer", async () => {
    const calls: unknown[] = [];
    const call = async (asks: ClientCall) => {
      calls.push(asks);
      if (calls.length === 2) throw new SluiceError("UNKNOWN_TASK", "no such task");
      await new Promise((resolve) => setTimeout(resolve, 5));
      return { id: "new", created: true };
    };
    const ending = await executor.run(job("asks", null, { call, step: { run: "r", name: "s" } }));
    const told = { a: { id: "new", created: true }, b: "UNKNOWN_TASK", run: "r", step: "s" };
    expect(ending).toEqual({ ok: true, result: JSON.stringify(told) });
    const [first] = calls;
    expect(first).toEqual({ verb: "enqueue", task: "echo", input: "1", options: { runAt: new Date(5) } });
    expect(await executor.run(job("asks"))).toMatchObject({ ok: false, error: { code: "NO_CLIENT" } });
  });

  test("that says what JSON cannot say is told in words, and does not fail; its process goes on", async () => {
    const circular = job("circular");
    expect(await executor.run(circular)).toEqual({ ok: true, result: "null" });
    expect(circular.said).toEqual([{ progress: { self: "[circular]" } }]);
    expect(await pidOf(executor)).toBe(pids[0]);
  });

  test("may be given and may return much, in every alphabet", async () => {
    const text = `${'a"\n\u2028é漢😀\ud800'.repeat(200_000)}`;
    expect(await executor.run(job("size", text))).toEqual({ ok: true, result: String(text.length) });
    const ending = await executor.run(job("echo", text));
    expect(ending.ok && (JSON.parse(ending.result) as { input: string }).input === text).toBe(true);
  });

  test("may use the channel for words of its own, and nobody takes them for ours", async () => {
    expect(await executor.run(job("talksToParent"))).toEqual({ ok: true, result: '"said"' });
    expect(await pidOf(executor)).toBe(pids[0]);
  });

  test("that is out of its time is answered at once, hears of it, and its process goes on", async () => {
    const wait = job("wait", null, { timeoutMs: 50 });
    const ending = await executor.run(wait);
    expect(ending).toMatchObject({ ok: false, retryable: true, error: { code: "TIMEOUT" } });
    await (ending as Failed).stopping;
    expect(await pidOf(executor)).toBe(pids[0]);
  });

  test("says when its code begins, once, and not before", async () => {
    const begins: unknown[] = [];
    const wait = job("wait");
    const ending = executor.run({ ...wait, begins: () => begins.push(wait.said.length) });
    expect(begins).toEqual([]);
    await wait.begun;
    expect(begins).toEqual([0]);
    wait.abort();
    await ending;
    expect(begins).toEqual([0]);
  });
});

describe("jobs", () => {
  test("go to the child with the fewest, as many at once as there is room, and the rest wait", async () => {
    const { executor } = await startExecutor({ processes: 2, concurrency: 2 });
    expect(executor.size).toBe(4);
    const jobs = Array.from({ length: 5 }, () => job("wait"));
    const endings = jobs.map((each) => executor.run(each));
    const begun = await Promise.all(jobs.slice(0, 4).map((each) => each.begun));
    expect(begun[0]).not.toBe(begun[1]);
    const perChild = new Map(begun.map((pid) => [pid, begun.filter((other) => other === pid).length]));
    expect([...perChild.values()]).toEqual([2, 2]);
    expect(jobs[4]?.said).toEqual([]);
    jobs[0]?.abort();
    await endings[0];
    expect(await jobs[4]?.begun).toBe(begun[0]);
    for (const each of jobs) each.abort();
    expect((await Promise.all(endings)).every(({ ok }) => ok)).toBe(true);
  });

  test("keep away from a child with aborted code in it, if there is another", async () => {
    const { executor } = await startExecutor({ processes: 2, concurrency: 3 });
    const deaf = job("deaf");
    const others = [job("wait"), job("wait"), job("wait")] as const;
    void executor.run(deaf);
    const risky = await deaf.begun;
    deaf.abort();
    for (const other of others) void executor.run(other);
    const pids = await Promise.all(others.map(({ begun }) => begun));
    expect(new Set(pids).size).toBe(1);
    expect(pids[0]).not.toBe(risky);
  });
});

describe("an abort", () => {
  test("reaches the code with its name, code and reason", async () => {
    const wait = job("wait");
    const ending = executor.run(wait);
    await wait.begun;
    wait.abort(new SluiceError("CANCELLED", "Somebody cancelled it."));
    const seen = { name: "SluiceError", code: "CANCELLED", message: "Somebody cancelled it." };
    expect(await ending).toEqual({ ok: true, result: JSON.stringify(seen) });
    expect(await pidOf(executor)).toBe(pids[0]);
  });

  test("without a reason of ours is an abort all the same", async () => {
    const wait = job("wait");
    const ending = executor.run(wait);
    await wait.begun;
    wait.abort("enough");
    expect(await ending).toMatchObject({
      result: expect.stringContaining('"code":"ABORTED","message":"enough"'),
    });
  });

  test("before the job was given begins nothing", async () => {
    const wait = job("wait");
    wait.abort();
    expect(await executor.run(wait)).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    await pidOf(executor);
    expect(wait.said).toEqual([]);
  });
});

test("lines that children print are told to whoever asks for them", async () => {
  const lines: ChildLine[] = [];
  const { executor, pids } = await startExecutor({ onLine: (line) => lines.push(line) });
  await executor.run(job("prints"));
  await executor.stop();
  const pid = pids[0];
  expect(lines).toContainEqual({ pid, stream: "stdout", text: "to stdout" });
  expect(lines).toContainEqual({ pid, stream: "stderr", text: "to stderr" });
});
