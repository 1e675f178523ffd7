import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import type { AnyTask } from "../../core/task/definition.ts";
import { task } from "../../core/task/definition.ts";
import type { Ending, Failed, Job } from "../executor.ts";
import { FunctionExecutor, parseInput } from "./function-executor.ts";

const job = (more: Partial<Job> = {}): Job => ({
  id: "id1",
  name: "t",
  input: "{}",
  attempt: 1,
  fence: 7,
  timeoutMs: null,
  signal: new AbortController().signal,
  progress: () => {},
  log: () => {},
  ...more,
});

const run = (definition: AnyTask, more: Partial<Job> = {}): Promise<Ending> =>
  new FunctionExecutor(new Map([[definition.id, definition]])).run(job(more));

const throwing = (thrown: unknown): AnyTask =>
  task({
    id: "t",
    run: () => {
      throw thrown;
    },
  });

describe("an attempt", () => {
  test("is given its input, its id, attempt and fence, and its result is kept as JSON", async () => {
    const seen: unknown[] = [];
    const definition = task({
      id: "t",
      run: (input: { n: number }, { id, attempt, fence }) => {
        seen.push(input, id, attempt, fence);
        return { doubled: input.n * 2 };
      },
    });
    expect(await run(definition, { input: '{"n":4}', attempt: 2 })).toEqual({
      ok: true,
      result: '{"doubled":8}',
    });
    expect(seen).toEqual([{ n: 4 }, "id1", 2, 7]);
  });

  test("may say how far it is and what it did", async () => {
    const said: unknown[] = [];
    const definition = task({
      id: "t",
      run: (_: unknown, { progress, log }) => {
        progress({ done: 3 });
        log("half way", { n: 1 });
      },
    });
    await run(definition, {
      progress: (value) => said.push(value),
      log: (message, data) => said.push(message, data),
    });
    expect(said).toEqual([{ done: 3 }, "half way", { n: 1 }]);
  });

  test("without a result has the result null", async () => {
    expect(await run(task({ id: "t", run: () => {} }))).toEqual({ ok: true, result: "null" });
  });

  test("of a task that this worker does not know fails for good", async () => {
    const ending = await run(task({ id: "other", run: () => 1 }));
    expect(ending).toMatchObject({ ok: false, retryable: false, error: { code: "UNKNOWN_TASK" } });
  });
});

describe("the input", () => {
  const schema = z.object({ to: z.string(), size: z.number().default(1) });

  test("is what the schema makes of it", async () => {
    const definition = task({ id: "t", input: schema, run: (input) => input });
    expect(await run(definition, { input: '{"to":"a"}' })).toEqual({
      ok: true,
      result: '{"to":"a","size":1}',
    });
  });

  test("that does not fit is a BAD_INPUT that no retry can mend, and the code never runs", async () => {
    const code = vi.fn();
    const definition = task({ id: "t", input: schema, run: code });
    const ending = await run(definition, { input: '{"to":3,"size":"x"}' });
    expect(ending).toMatchObject({ ok: false, retryable: false, error: { code: "BAD_INPUT" } });
    expect(!ending.ok && ending.error.message).toMatch(/task "t".*to: .*; size: /);
    expect(code).not.toHaveBeenCalled();
  });

  test("that is no JSON at all fails for good, too", async () => {
    const ending = await run(task({ id: "t", run: () => 1 }), { input: "{" });
    expect(ending).toMatchObject({ ok: false, retryable: false });
  });

  test("is named as a whole where the schema names no part of it", async () => {
    const definition = task({ id: "t", input: z.string(), run: () => 1 });
    await expect(parseInput(definition, 5)).rejects.toThrow(/schema: input: /);
    await expect(parseInput(definition, 5)).rejects.toMatchObject({
      code: "BAD_INPUT",
      details: { issues: [expect.stringMatching(/^input: /)] },
    });
  });

  test("is named by the keys of its path, however the schema writes them", async () => {
    const validate = () => ({ issues: [{ message: "wrong", path: [{ key: "list" }, 0, { key: "name" }] }] });
    const input = { "~standard": { version: 1 as const, vendor: "test", validate } };
    const definition = { id: "t", input, run: () => 1 } as unknown as AnyTask;
    await expect(parseInput(definition, {})).rejects.toThrow("list.0.name: wrong");
  });

  test("is handed on as it is where there is no schema", async () => {
    expect(await parseInput(task({ id: "t", run: () => 1 }), [1])).toEqual([1]);
  });
});

describe("code that throws", () => {
  test("is a failure that may be retried, with name, message, code and stack", async () => {
    const error = Object.assign(new TypeError("no such host"), { code: "ENOTFOUND" });
    expect(await run(throwing(error))).toEqual({
      ok: false,
      retryable: true,
      error: { name: "TypeError", message: "no such host", code: "ENOTFOUND", stack: error.stack },
    });
  });

  test("says itself when no retry can help", async () => {
    expect(await run(throwing(Object.assign(new Error("gone"), { retryable: false })))).toMatchObject({
      ok: false,
      retryable: false,
    });
    expect(await run(throwing(Object.assign(new Error("gone"), { retryable: true })))).toMatchObject({
      retryable: true,
    });
  });

  test("may throw anything at all", async () => {
    for (const [thrown, message] of [
      ["text", "text"],
      [undefined, "undefined was thrown"],
      [null, "null was thrown"],
      [42, "42 was thrown"],
      [Symbol("s"), "Symbol(s) was thrown"],
      [Object.create(null), "{}"],
      [{ status: 502, body: { reason: "busy" } }, '{"status":502,"body":{"reason":"busy"}}'],
    ] as const) {
      expect(await run(throwing(thrown))).toEqual({
        ok: false,
        retryable: true,
        error: { name: "Error", message },
      });
    }
  });

  test("may reject instead", async () => {
    const definition = task({ id: "t", run: () => Promise.reject(new Error("later")) });
    expect(await run(definition)).toMatchObject({ ok: false, error: { message: "later" } });
  });
});

test("a result that is not JSON fails for good: it would not be another one the next time", async () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  for (const value of [circle, 10n]) {
    const ending = await run(task({ id: "t", run: () => value }));
    expect(ending).toMatchObject({ ok: false, retryable: false, error: { code: "RESULT_NOT_JSON" } });
  }
});

describe("the signal", () => {
  /** A job that counts how often its signal is read. */
  const watched = (more: Partial<Job> = {}) => {
    const controller = new AbortController();
    const it = { looks: 0, controller };
    const made = { ...job(more) };
    Object.defineProperty(made, "signal", {
      get: () => {
        it.looks += 1;
        return controller.signal;
      },
    });
    return Object.assign(it, { job: made });
  };
  const executor = (definition: AnyTask) => new FunctionExecutor(new Map([["t", definition]]));

  test("is not even made for code that does not look at it", async () => {
    const it = watched();
    await executor(task({ id: "t", run: () => 1 })).run(it.job);
    expect(it.looks).toBe(0);
  });

  test("is the job's own for code that does", async () => {
    const it = watched();
    const definition = task({
      id: "t",
      run: (_: unknown, context) =>
        new Promise((_resolve, reject) => {
          context.signal.addEventListener("abort", () => reject(context.signal.reason));
          it.controller.abort(new Error("lease lost"));
        }),
    });
    expect(await executor(definition).run(it.job)).toMatchObject({ error: { message: "lease lost" } });
  });

  test("is aborted by the job, too, where there is a timeout", async () => {
    const it = watched({ timeoutMs: 60_000 });
    const definition = task({
      id: "t",
      run: (_: unknown, context) =>
        new Promise((_resolve, reject) => {
          context.signal.addEventListener("abort", () => reject(context.signal.reason));
          it.controller.abort(new Error("cancelled"));
        }),
    });
    // The timeout did not end it, so the code's own error counts.
    expect(await executor(definition).run(it.job)).toMatchObject({ error: { message: "cancelled" } });
  });
});

describe("a timeout", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const sleeping = (ms: number, onAbort?: (reason: unknown) => unknown): AnyTask =>
    task({
      id: "t",
      run: (_: unknown, { signal }) =>
        new Promise((resolve, reject) => {
          setTimeout(() => resolve("slept"), ms);
          if (!onAbort) return;
          signal.addEventListener("abort", () => {
            const answer = onAbort(signal.reason);
            if (answer instanceof Error) reject(answer);
            else resolve(answer);
          });
        }),
    });

  test("asks the code to stop and fails the attempt with TIMEOUT, whatever error the code makes of it", async () => {
    const reasons: unknown[] = [];
    const ending = run(
      sleeping(10_000, (reason) => {
        reasons.push(reason);
        return Object.assign(new Error("aborted"), { retryable: false });
      }),
      { timeoutMs: 500 },
    );
    await vi.advanceTimersByTimeAsync(499);
    expect(reasons).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    const ended = await ending;
    expect(ended).toMatchObject({ ok: false, retryable: true, error: { code: "TIMEOUT" } });
    expect("stopping" in ended).toBe(false);
    expect(reasons).toMatchObject([{ code: "TIMEOUT" }]);
  });

  test("ends the attempt at once when the code does not listen, and says when that has ended", async () => {
    const ending = run(sleeping(60_000), { timeoutMs: 500 });
    await vi.advanceTimersByTimeAsync(501);
    const ended = (await ending) as Failed;
    expect(ended).toMatchObject({ ok: false, retryable: true, error: { code: "TIMEOUT" } });
    let hasStopped = false;
    void ended.stopping?.then(() => {
      hasStopped = true;
    });
    await vi.advanceTimersByTimeAsync(59_498);
    expect(hasStopped).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(hasStopped).toBe(true);
  });

  test("keeps a result that comes while the code is asked to stop", async () => {
    const ending = run(
      sleeping(10_000, () => "just in time"),
      { timeoutMs: 500 },
    );
    await vi.advanceTimersByTimeAsync(500);
    expect(await ending).toEqual({ ok: true, result: '"just in time"' });
  });

  test("does nothing to code that is fast enough, and leaves no timer behind", async () => {
    const ending = run(task({ id: "t", run: () => 1 }), { timeoutMs: 500 });
    expect(await ending).toEqual({ ok: true, result: "1" });
    expect(vi.getTimerCount()).toBe(0);
  });

  test("longer than a timer can count does not end the attempt at once", async () => {
    const ending = run(sleeping(5_000), { timeoutMs: 60 * 86_400_000 });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await ending).toEqual({ ok: true, result: '"slept"' });
  });
});
