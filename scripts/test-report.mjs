// Reads vitest's JSON report: totals, the slowest files, and whether a failure also occurs when its file runs
// alone.

import { relative } from "node:path";

const SLOWEST = 10;

export function totalsOf(report) {
  if (!report) return { passed: 0, failed: 0, skipped: 0 };
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = report;
  const brokenFiles = testResults.filter(isBroken);
  return {
    passed: numPassedTests,
    failed: numFailedTests + brokenFiles.length,
    skipped: numPendingTests + numTodoTests,
  };
}

/**
 * The failures that are not forgiven. An error outside of any test, or a run that was cut short, is a failure of its
 * own: a test that is forgiven beside it says nothing about it.
 */
export function failedIn({ failed }, { code, stray }, forgiven) {
  const outside = stray === undefined || stray.reason === "interrupted" ? 1 : stray.errors;
  const all = Math.max(0, failed - forgiven) + outside;
  return code !== 0 && failed === 0 ? Math.max(1, all) : all;
}

/** The slowest files, one line each. */
export function slowest(report, root) {
  return (report?.testResults ?? [])
    .map(({ name, startTime, endTime }) => ({ file: relative(root, name), ms: endTime - startTime }))
    .sort((a, b) => b.ms - a.ms)
    .slice(0, SLOWEST)
    .map(({ file, ms }) => `${(ms / 1_000).toFixed(1).padStart(7)} s  ${file}`);
}

/** The files that failed, with the full names of their failed tests. */
export function failuresOf(report, root) {
  return (report?.testResults ?? [])
    .filter(({ status }) => status === "failed")
    .map((result) => ({
      file: relative(root, result.name),
      tests: result.assertionResults.filter(({ status }) => status === "failed").map((test) => test.fullName),
    }));
}

/** One line per failure: flaky if it passed when its file ran alone, broken if it failed again. */
export function judge(failures, again) {
  return failures.flatMap(({ file, tests }) => {
    const second = again.find((other) => other.file === file);
    if (tests.length === 0) return [`${second ? "broken" : "flaky"}: ${file}`];
    return tests.map((test) => {
      const isBroken = second !== undefined && (second.tests.length === 0 || second.tests.includes(test));
      return `${isBroken ? "broken" : "flaky"}: ${file}: ${test}`;
    });
  });
}

/** A file that could not be loaded, or whose hooks failed, counts as failed without a failed test. */
function isBroken({ status, assertionResults }) {
  return status === "failed" && !assertionResults.some((test) => test.status === "failed");
}
