// What `npm test` prints at its end, made from vitest's report.

import { describe, expect, test } from "vitest";
import { top } from "./built-cli.ts";

const { failedIn, failuresOf, judge, slowest, totalsOf } = await import(`${top}/scripts/test-report.mjs`);

const result = (file: string, seconds: number, tests: Record<string, string>, status = "passed") => ({
  name: `/top/${file}`,
  startTime: 1_000,
  endTime: 1_000 + seconds * 1_000,
  status,
  assertionResults: Object.entries(tests).map(([fullName, outcome]) => ({ fullName, status: outcome })),
});
const report = {
  numPassedTests: 2,
  numFailedTests: 2,
  numPendingTests: 1,
  numTodoTests: 0,
  testResults: [
    result("test/a.test.ts", 3, { one: "passed", two: "failed", three: "failed" }, "failed"),
    result("test/b.test.ts", 12.34, { one: "passed", four: "pending" }),
    result("test/c.test.ts", 1, {}, "failed"),
  ],
};

test("a file that could not be loaded is one more failure", () => {
  expect(totalsOf(report)).toEqual({ passed: 2, failed: 3, skipped: 1 });
  expect(totalsOf(undefined)).toEqual({ passed: 0, failed: 0, skipped: 0 });
});

test("an error outside of any test fails the run, also beside a test that is forgiven", () => {
  const ended = { code: 1, stray: { errors: 0, reason: "failed" } };
  expect(failedIn({ failed: 0 }, { code: 0, stray: { errors: 0, reason: "passed" } }, 0)).toBe(0);
  expect(failedIn({ failed: 2 }, ended, 1)).toBe(1);
  expect(failedIn({ failed: 1 }, ended, 1)).toBe(0);
  expect(failedIn({ failed: 1 }, { ...ended, stray: { errors: 1, reason: "failed" } }, 1)).toBe(1);
  expect(failedIn({ failed: 1 }, { ...ended, stray: { errors: 0, reason: "interrupted" } }, 1)).toBe(1);
  // vitest itself broke, and no reporter was asked.
  expect(failedIn({ failed: 1 }, { code: 1, stray: undefined }, 1)).toBe(1);
  expect(failedIn({ failed: 0 }, ended, 0)).toBe(1);
});

test("the slowest files come first, ten of them at most", () => {
  expect(slowest(report, "/top")).toEqual([
    "   12.3 s  test/b.test.ts",
    "    3.0 s  test/a.test.ts",
    "    1.0 s  test/c.test.ts",
  ]);
  const many = Array.from({ length: 11 }, (_, n) => result(`test/${n}.test.ts`, n, {}));
  expect(slowest({ testResults: many }, "/top")).toHaveLength(10);
});

describe("of what failed, run again alone", () => {
  const failures = failuresOf(report, "/top");

  test("a test that failed again is broken, one that passed is flaky", () => {
    const again = {
      testResults: [result("test/a.test.ts", 1, { two: "failed", three: "passed" }, "failed")],
    };
    expect(judge(failures, failuresOf(again, "/top"))).toEqual([
      "broken: test/a.test.ts: two",
      "flaky: test/a.test.ts: three",
      "flaky: test/c.test.ts",
    ]);
  });

  test("all of a file is broken that could not even be loaded", () => {
    const again = { testResults: [result("test/a.test.ts", 1, {}, "failed"), report.testResults[2]] };
    expect(judge(failures, failuresOf(again, "/top"))).toEqual([
      "broken: test/a.test.ts: two",
      "broken: test/a.test.ts: three",
      "broken: test/c.test.ts",
    ]);
  });
});
