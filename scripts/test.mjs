// `npm test`: everything this machine can prove, and in words what it could not.
// Arguments go to vitest: `npm test -- pass` runs the test files with "pass" in their path.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runChecks } from "./checks.mjs";
import { build, install, root } from "./ready.mjs";
import { endWithNpm, node } from "./run.mjs";

endWithNpm();
await install(root);
const checks = await runChecks();
checks[(await build()) ? "passed" : "failed"].push("build");

const folder = mkdtempSync(join(tmpdir(), "sluice-test-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const report = join(folder, "report.json");
const notes = join(folder, "notes.txt");
const code = await node(
  [
    "node_modules/vitest/vitest.mjs",
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  { env: { ...process.env, SLUICE_TEST_NOTES: notes } },
);
const tests = countTests(report);
const notRun = existsSync(notes) ? readFileSync(notes, "utf8").trim().split("\n") : [];

// vitest can fail with every test green: an error outside of any test, or a run that was cut off.
if (code !== 0 && tests.failed === 0) tests.failed = 1;

for (const name of checks.failed) console.log(`Check failed: ${name}`);
for (const note of notRun) console.log(note);
const passed = tests.passed + checks.passed.length;
const failed = tests.failed + checks.failed.length;
console.log(`${passed} passed, ${failed} failed${tests.skipped > 0 ? `, ${tests.skipped} skipped` : ""}`);
process.exitCode = failed > 0 ? 1 : 0;

function countTests(file) {
  if (!existsSync(file)) return { passed: 0, failed: 0, skipped: 0 };
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(
    readFileSync(file, "utf8"),
  );
  // A file that could not be loaded, or whose hooks failed, has failed without a failed test in it.
  const brokenFiles = testResults.filter(
    (result) =>
      result.status === "failed" && !result.assertionResults.some((test) => test.status === "failed"),
  );
  return {
    passed: numPassedTests,
    failed: numFailedTests + brokenFiles.length,
    skipped: numPendingTests + numTodoTests,
  };
}
