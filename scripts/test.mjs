// `npm test`: runs every test this machine can run, and says what it skipped.
// Arguments go to vitest: `npm test -- pass` runs the test files with "pass" in their path.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runChecks } from "./checks.mjs";
import { memoryFolder } from "./memory-folder.mjs";
import { build, install, root } from "./ready.mjs";
import { endWithNpm, node } from "./run.mjs";
import { failedIn, failuresOf, judge, slowest, totalsOf } from "./test-report.mjs";

endWithNpm();
await install(root);
const checks = await runChecks();
checks[(await build()) ? "passed" : "failed"].push("build");

const folder = mkdtempSync(join(tmpdir(), "sluice-test-"));
const memory = memoryFolder();
process.once("exit", () => {
  for (const made of [folder, memory]) if (made) rmSync(made, { recursive: true, force: true });
});
const notes = join(folder, "notes.txt");

const first = await vitest("report", process.argv.slice(2));
const tests = totalsOf(first.report);
const notRun = existsSync(notes) ? readFileSync(notes, "utf8").trim().split("\n") : [];

console.log("\nThe slowest files:");
for (const line of slowest(first.report, root)) console.log(line);
const told = await explainFailures();
for (const line of told) console.log(line);
for (const name of checks.failed) console.log(`Check failed: ${name}`);
for (const note of notRun) console.log(note);
const passed = tests.passed + checks.passed.length;
// With SLUICE_TEST_FLAKY=tell, for shared machines that stall, a test that passes alone is listed but does
// not fail the run. It still needs a fix.
const forgiven =
  process.env.SLUICE_TEST_FLAKY === "tell" ? told.filter((line) => line.startsWith("flaky:")).length : 0;
const failed = failedIn(tests, first, forgiven) + checks.failed.length;
console.log(`${passed} passed, ${failed} failed${tests.skipped > 0 ? `, ${tests.skipped} skipped` : ""}`);
process.exitCode = failed > 0 ? 1 : 0;

/** Reruns the failed files one at a time, to tell flaky from broken. */
async function explainFailures() {
  const failures = failuresOf(first.report, root);
  // This many failures are no accident, and their messages are above.
  if (failures.length === 0 || failures.length > 20) return [];
  console.log("\nRunning what failed again, one file at a time, to tell flaky from broken.");
  const { report } = await vitest("again", [...failures.map(({ file }) => file), "--no-file-parallelism"]);
  return judge(failures, failuresOf(report, root));
}

async function vitest(name, args) {
  const file = join(folder, `${name}.json`);
  const reporters = ["default", "json", "./scripts/stray-errors.mjs"].map((each) => `--reporter=${each}`);
  reporters.push(`--outputFile.json=${file}`);
  const outside = join(folder, `${name}-stray.json`);
  const env = { ...process.env, SLUICE_TEST_NOTES: notes, SLUICE_TEST_STRAY: outside };
  if (memory) env.TMPDIR = memory;
  const code = await node(["node_modules/vitest/vitest.mjs", "run", ...reporters, ...args], { env });
  const read = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined);
  return { code, report: read(file), stray: read(outside) };
}
