// The manual shows a program with a worker of its own as it is. The program ends its worker on a signal.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { builtCli, top } from "../support/built-cli.ts";

const FILE = "examples/own-process/main.ts";

test("the manual shows how a program of one's own stops its worker", () => {
  const page = readFileSync(join(top, "docs/running-workers.md"), "utf8");
  expect(page).toContain(`\`\`\`ts\n${readFileSync(join(top, FILE), "utf8")}\`\`\`\n`);
});

test("it finishes its task after a signal, closes, and ends by itself", { timeout: 60_000 }, async () => {
  await builtCli();
  const folder = mkdtempSync(join(tmpdir(), "sluice-own-process-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const args = ["--import", import.meta.resolve("tsx"), join(top, FILE)];
  const program = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void program.kill("SIGKILL"));
  let said = "";
  program.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (said === "") program.kill("SIGTERM");
    said += text;
  });
  expect(await once(program, "close")).toEqual([0, null]);
  expect(said).toBe("Greeting Ann …\nGreeted Ann.\nClosed.\n");
});
