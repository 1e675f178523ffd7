// The README shows a file that exists and its real output.

import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { builtCli, top } from "../support/built-cli.ts";

const FILE = "examples/first-workflow/main.ts";
const readme = readFileSync(join(top, "README.md"), "utf8");
const source = readFileSync(join(top, FILE), "utf8");

test("the README shows the first workflow as it is, in under 40 lines", () => {
  expect(readme).toContain(`\`\`\`ts\n${source}\`\`\`\n`);
  expect(source.trimEnd().split("\n").length).toBeLessThan(40);
});

test("it prints what the README says", async () => {
  await builtCli();
  const folder = mkdtempSync(join(tmpdir(), "sluice-readme-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [, said] = readme.split(`$ npx tsx ${FILE}\n`, 2);
  const args = ["--import", import.meta.resolve("tsx"), join(top, FILE)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder });
  expect(stdout).toBe(said?.slice(0, said.indexOf("```")));
});
