import { describe, expect, test } from "vitest";
import type { Death } from "./death.ts";
import { crashed, notStarted, sayDeath } from "./death.ts";

const death = (more: Partial<Death>): Death => ({
  pid: 1,
  exitCode: null,
  signal: null,
  lastWords: undefined,
  readyMs: undefined,
  jobsEnded: 0,
  killedFor: undefined,
  ...more,
});
const badApp = {
  name: "SluiceError",
  code: "BAD_APP",
  message: "no default export.",
  stack: "its own stack",
};

describe("a death is told", () => {
  test.each<[string, Partial<Death>]>([
    ["ended with exit code 3", { exitCode: 3 }],
    ["ended with exit code 0", { exitCode: 0 }],
    ["was killed by SIGKILL", { signal: "SIGKILL" }],
    ["was killed by SIGABRT (so Node ends when its memory is full)", { signal: "SIGABRT" }],
    [
      "ended with exit code 1: TypeError: oh",
      { exitCode: 1, lastWords: { name: "TypeError", message: "oh" } },
    ],
    ["could not be started: Error: no memory", { lastWords: { name: "Error", message: "no memory" } }],
  ])("as: %s", (words, more) => {
    expect(sayDeath(death(more))).toBe(words);
  });
});

test("a job whose process died has crashed, may be retried, and says how it died", () => {
  expect(crashed(death({ exitCode: 3 }))).toEqual({
    ok: false,
    crashed: true,
    retryable: true,
    error: {
      name: "SluiceError",
      code: "PROCESS_DIED",
      message: "The process that ran it ended with exit code 3.",
    },
  });
});

test("its last words bring their own full stop", () => {
  const ending = crashed(death({ exitCode: 1, lastWords: badApp }));
  expect(ending).toMatchObject({
    error: { message: expect.stringMatching(/SluiceError: no default export\.$/) },
  });
});

describe("a child that could not start", () => {
  test("is told in its own words, with its own error as the cause", () => {
    const error = notStarted(death({ exitCode: 1, lastWords: badApp }));
    expect(error).toMatchObject({
      code: "PROCESS_NOT_STARTED",
      message: "A child process could not start: no default export.",
      details: { error: badApp, exitCode: 1, signal: null },
      cause: { name: "SluiceError", code: "BAD_APP", message: "no default export.", stack: "its own stack" },
    });
    expect(error.cause).toBeInstanceOf(Error);
  });

  test("and said nothing is told by its exit", () => {
    expect(notStarted(death({ exitCode: 7 })).message).toBe(
      "A child process could not start: it ended with exit code 7 before it was ready. Read what it printed.",
    );
  });
});
