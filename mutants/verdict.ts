/** What the test runner's report says about a defect. */

/** The part of vitest's JSON report that we read. */
export interface Report {
  readonly testResults: readonly {
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly TestResult[];
  }[];
}

interface TestResult {
  readonly fullName: string;
  readonly status: string;
  readonly failureMessages?: readonly string[] | null;
}

export type Verdict =
  /** A test failed: its name, and the first line of its message. */
  | { readonly kind: "noticed"; readonly by: string; readonly how: string }
  | { readonly kind: "escaped" }
  /** Nothing was tried, because this machine has no such server. */
  | { readonly kind: "skipped" }
  /** The tests could not be run, so nothing is known about the defect. */
  | { readonly kind: "broken"; readonly why: string };

/** Code that cannot even run is not a defect that a test must find. */
const NO_CODE =
  /^(ReferenceError|SyntaxError)|Failed to (load|resolve)|Transform failed|PARSE_ERROR|error TS\d/;

/** `isNamed` says whether a test counts. */
export function verdictOf(report: Report, isNamed: (name: string) => boolean): Verdict {
  const cannotStart = report.testResults.find(
    ({ status, assertionResults }) =>
      status === "failed" && !assertionResults.some((test) => test.status === "failed"),
  );
  if (cannotStart)
    return { kind: "broken", why: `the test file cannot start: ${firstLine(cannotStart.message)}` };
  const tests = report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ fullName }) => isNamed(fullName));
  if (tests.length === 0) return { kind: "broken", why: "there is no test of this name" };
  const failed = tests.find(({ status }) => status === "failed");
  if (failed) {
    const how = firstLine(failed.failureMessages?.[0] ?? "");
    return NO_CODE.test(failed.failureMessages?.[0] ?? "")
      ? { kind: "broken", why: `the spoiled code does not run: ${how}` }
      : { kind: "noticed", by: failed.fullName, how };
  }
  return tests.some(({ status }) => status === "passed") ? { kind: "escaped" } : { kind: "skipped" };
}

const firstLine = (text: string): string => text.trim().split("\n")[0] ?? "";
