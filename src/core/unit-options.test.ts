import { describe, expect, test } from "vitest";
import { retryPolicy } from "./task/retry.ts";
import { optionsOfRun, optionsOfTask, storedOptions } from "./unit-options.ts";

describe("stored options", () => {
  test("of a task are read as they were written", () => {
    const retry = retryPolicy({ attempts: 7 });
    const step = { run: "r", name: "load", each: true, stops: true } as const;
    const options = storedOptions(optionsOfTask({ retry, timeoutMs: 250, step, cpu: true }));
    expect(options).toMatchObject({ retry, timeoutMs: 250, step, cpu: true });
  });

  test("of a run are read as they were written", () => {
    const said = { startTimeoutMs: 1_000, onStartTimeout: "fail", fromNothing: true } as const;
    expect(storedOptions(optionsOfRun(said))).toMatchObject(said);
    expect(storedOptions(optionsOfRun({ startTimeoutMs: 5 })).fromNothing).toBeUndefined();
  });

  test("that say nothing, or cannot be read, mean no retry, no timeout and three minutes to start", () => {
    for (const text of ["{}", "", "not json", "null", "[1]", '{"timeoutMs":null}']) {
      const { retry, timeoutMs, startTimeoutMs } = storedOptions(text);
      expect([text, retry.attempts, timeoutMs, startTimeoutMs]).toEqual([text, 1, null, 180_000]);
    }
  });
});
