// Under npx, a signal reaches npm alone: its shell dies of it, and the command would be left running without anybody.

import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { until } from "../e2e/support/until.ts";
import { builtCli } from "../support/built-cli.ts";
import { newProject, says } from "./terminal.ts";

const shells: ChildProcess[] = [];
// A test that failed may have left the command running; it is in the group of its shell.
afterEach(() => {
  for (const { pid } of shells.splice(0)) {
    try {
      process.kill(-(pid as number), "SIGKILL");
    } catch {}
  }
});

test.each([
  ["worker", ["--processes=1"]],
  ["dev", []],
])("%s stops when the shell is gone that npm started it in", { timeout: 120_000 }, async (mode, more) => {
  const project = newProject();
  const command = ["sluice", mode, "app.js", ...more].join(" ");
  const cli = await builtCli();
  await says(project, "migrate");
  // What npm does: a shell between it and the command, which tells whose shell it is.
  const shell = spawn(
    "/bin/sh",
    ["-c", `"${process.execPath}" "${cli}" ${mode} app.js ${more.join(" ")}; true`],
    {
      cwd: project,
      env: { ...process.env, npm_lifecycle_event: "npx", npm_lifecycle_script: command },
      stdio: ["ignore", "pipe", "inherit"],
      detached: true,
    },
  );
  shells.push(shell);
  let said = "";
  shell.stdout?.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  await until(() => said.includes("Concurrency config"), `${mode} serves`, 60_000);
  const closed = once(shell.stdout as NonNullable<typeof shell.stdout>, "close");
  shell.kill("SIGTERM");
  await once(shell, "exit");
  // Its output is closed when the last process is gone that has it.
  await closed;
  expect(said).toContain("Stopping.");
});
