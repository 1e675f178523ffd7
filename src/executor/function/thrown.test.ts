import { describe, expect, test, vi } from "vitest";
import type { AnyTask } from "../../core/task/definition.ts";
import { task } from "../../core/task/definition.ts";
import { NonRetryable, RetryAfter } from "../../core/task/steering.ts";
import type { Ending, Job } from "../executor.ts";
import { FunctionExecutor } from "./function-executor.ts";

const failing = (thrown: unknown, when?: (error: unknown) => boolean | Promise<boolean>): AnyTask =>
  task({
    id: "t",
    retry: when ? { when } : {},
    run: () => {
      throw thrown;
    },
  });

const log = vi.fn();
const run = (definition: AnyTask, more: Partial<Job> = {}): Promise<Ending> =>
  new FunctionExecutor(new Map([["t", definition]])).run({
    id: "id1",
    name: "t",
    input: "{}",
    attempt: 1,
    fence: 7,
    timeoutMs: null,
    signal: new AbortController().signal,
    progress: () => {},
    log,
    ...more,
  });

describe("the code that throws", () => {
  test("NonRetryable wants no further attempt, and nobody is asked", async () => {
    const when = vi.fn(() => true);
    const ending = await run(failing(new NonRetryable("no such card"), when));
    expect(ending).toMatchObject({
      retryable: false,
      error: { name: "NonRetryable", message: "no such card" },
    });
    expect(when).not.toHaveBeenCalled();
  });

  test("RetryAfter says when the next attempt is due, and nobody is asked", async () => {
    const when = vi.fn(() => false);
    expect(await run(failing(new RetryAfter("5m"), when))).toMatchObject({
      retryable: true,
      next: { inMs: 300_000 },
      error: { name: "RetryAfter" },
    });
    expect(when).not.toHaveBeenCalled();
  });

  test("an error of another copy of the package is understood by its fields", async () => {
    expect(await run(failing({ message: "busy", retryAfter: { at: 5 } }))).toMatchObject({ next: { at: 5 } });
    expect(await run(failing({ message: "busy", retryAfter: "120" }))).not.toHaveProperty("next");
  });

  test.each([undefined, null, "text", 7])("%s is retried like any error", async (thrown) => {
    expect(await run(failing(thrown))).toMatchObject({ ok: false, retryable: true });
  });

  test("an object whose fields throw is retried like any error", async () => {
    const odd = {
      get retryable() {
        throw new Error("no");
      },
    };
    expect(await run(failing(odd))).toMatchObject({ ok: false, retryable: true });
  });
});

describe("retry.when", () => {
  class Busy extends Error {}

  test("gets the error itself, and false ends the attempts", async () => {
    const when = (error: unknown): boolean => error instanceof Busy;
    expect(await run(failing(new Busy("busy"), when))).toMatchObject({ retryable: true });
    expect(await run(failing(new Error("broken"), when))).toMatchObject({
      retryable: false,
      error: { message: "broken" },
    });
  });

  test("may take its time to answer", async () => {
    expect(await run(failing(new Busy(), async () => false))).toMatchObject({ retryable: false });
  });

  test("that fails does not decide, and the log says so", async () => {
    log.mockClear();
    const when = (): boolean => {
      throw new Error("odd");
    };
    expect(await run(failing(new Error("broken"), when))).toMatchObject({
      retryable: true,
      error: { message: "broken" },
    });
    expect(log).toHaveBeenCalledWith(expect.stringContaining("retry.when"), { error: "odd" });
  });

  test("does not decide about a timeout", async () => {
    const definition = task({
      id: "t",
      retry: { when: () => false },
      run: (_: unknown, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(new Error("aborted"))),
        ),
    });
    expect(await run(definition, { timeoutMs: 5 })).toMatchObject({
      retryable: true,
      error: { code: "TIMEOUT" },
    });
  });
});
