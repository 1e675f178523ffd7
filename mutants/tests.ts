/** Runs tests in a copy and reads their results. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Copy } from "./copy.ts";
import type { Listed } from "./list.ts";
import type { Report, Verdict } from "./verdict.ts";
import { verdictOf } from "./verdict.ts";

/** The servers that all tests share: a URL, or "off". */
export interface Servers {
  readonly postgres: string;
  readonly mariadb: string;
}

/** Longer than any test may take. */
const PATIENCE_MS = 300_000;

export type NoticedBy = Listed["noticedBy"];

/** The verdict of the tests named by one defect. vitest matches a part of a name as a regular expression. */
export async function judge(copy: Copy, { file, test }: NoticedBy, servers: Servers): Promise<Verdict> {
  const report = await run(copy, file, test === undefined ? [] : [test], servers, ["--bail=1"]);
  return typeof report === "string" ? { kind: "broken", why: report } : verdictOf(report, isNamed(test));
}

/**
 * Runs all tests that the defects name in one file on sound code. Returns, by test, whether it can be
 * trusted.
 */
export async function sound(
  copy: Copy,
  file: string,
  named: readonly NoticedBy[],
  servers: Servers,
): Promise<(of: NoticedBy) => Verdict> {
  const tests = named.some(({ test }) => test === undefined)
    ? []
    : [...new Set(named.map(({ test }) => test as string))];
  const report = await run(copy, file, tests, servers);
  return ({ test }) =>
    typeof report === "string" ? { kind: "broken", why: report } : verdictOf(report, isNamed(test));
}

const isNamed =
  (test: string | undefined) =>
  (name: string): boolean =>
    test === undefined || name.includes(test);

/** Returns the report, or why there is none. */
async function run(
  copy: Copy,
  file: string,
  tests: readonly string[],
  servers: Servers,
  more: readonly string[] = [],
): Promise<Report | string> {
  const path = join(copy.folder, "mutant-report.json");
  rmSync(path, { force: true });
  const names = tests.map((test) => test.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const args = [
    "node_modules/vitest/vitest.mjs",
    "run",
    file,
    "--reporter=json",
    `--outputFile=${path}`,
    "--no-cache",
    ...(names.length > 0 ? ["-t", names.join("|")] : []),
    ...more,
  ];
  // Tests next to pure code need no database.
  const without = file.startsWith("test/") ? servers : { postgres: "off", mariadb: "off" };
  const env = {
    ...process.env,
    SLUICE_TEST_POSTGRES: without.postgres,
    SLUICE_TEST_MARIADB: without.mariadb,
  };
  const { output, isLate } = await ended(copy.folder, args, env);
  if (isLate) return `the tests did not end within ${PATIENCE_MS / 1000} s`;
  if (!existsSync(path))
    return `the tests did not start:\n${output.trim().split("\n").slice(-12).join("\n")}`;
  return JSON.parse(readFileSync(path, "utf8")) as Report;
}

function ended(
  cwd: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ output: string; isLate: boolean }> {
  return new Promise((resolve, reject) => {
    // Its own process group, so that processes started by tests can be ended with them.
    const child = spawn(process.execPath, args, {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let output = "";
    for (const pipe of [child.stdout, child.stderr])
      pipe.setEncoding("utf8").on("data", (text: string) => {
        output = (output + text).slice(-20_000);
      });
    let isLate = false;
    const end = (): void => {
      try {
        process.kill(-(child.pid as number), "SIGKILL");
      } catch {
        // No process is left.
      }
    };
    const timer = setTimeout(() => {
      isLate = true;
      end();
    }, PATIENCE_MS);
    process.once("exit", end);
    child.once("error", reject);
    child.once("close", () => {
      clearTimeout(timer);
      process.off("exit", end);
      resolve({ output, isLate });
    });
  });
}
