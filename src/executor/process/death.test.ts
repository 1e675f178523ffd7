import { describe, expect, test } from "vitest";
import type { Death } from "./death.ts";
import { endingOfLost, notStarted, sayDeath } from "./death.ts";

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
    ["was killed by SIGABRT (Node aborts like this when it runs out of memory)", { signal: "SIGABRT" }],
    [
      "ended with exit code 1: TypeError: oh",
      { exitCode: 1, lastWords: { name: "TypeError", message: "oh" } },
    ],
    [
      "closed its channel to the worker and stayed alive, so the worker killed it",
      { signal: "SIGKILL", killedFor: "unreachable" },
    ],
    ["could not be started: Error: no memory", { lastWords: { name: "Error", message: "no memory" } }],
  ])("as: %s", (words, more) => {
    expect(sayDeath(death(more))).toBe(words);
  });
});

test("a job whose process died has crashed, may be retried, and says how it died", () => {
  expect(endingOfLost(death({ exitCode: 3 }))).toEqual({
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

describe("a job whose process was killed because of another job", () => {
  const hog = (code: string) => ({
    name: "hog",
    id: "01abc",
    reason: { name: "SluiceError", code, message: "stop" },
    graceMs: 1_000,
  });

  test.each([
    ["TIMEOUT", "its timeout"],
    ["CANCELLED", "its cancel"],
    ["LEASE_LOST", "its abort"],
  ])("has not crashed, and its error names that job: %s", (code, order) => {
    const killed = death({ signal: "SIGKILL", killedFor: "deaf", overstayed: hog(code) });
    expect(endingOfLost(killed)).toEqual({
      ok: false,
      bystander: true,
      retryable: true,
      error: {
        name: "SluiceError",
        code: "PROCESS_ENDED",
        message: `Its process was ended, because task "hog" 01abc in it did not stop within 1s of ${order}.`,
      },
    });
  });

  test("has crashed if the process died of something else first", () => {
    for (const how of [{ signal: "SIGABRT" }, { exitCode: 3 }])
      expect(endingOfLost(death({ ...how, killedFor: "deaf", overstayed: hog("TIMEOUT") }))).toMatchObject({
        crashed: true,
        error: { code: "PROCESS_DIED" },
      });
  });
});

test("its last words bring their own full stop", () => {
  const ending = endingOfLost(death({ exitCode: 1, lastWords: badApp }));
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
