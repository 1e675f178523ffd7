// Under npx, a signal reaches only npm. Its shell dies of the signal, and the command must not be left
// running alone.

import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { until } from "../e2e/support/until.ts";
import { builtCli } from "../support/built-cli.ts";
import { newProject, says } from "./terminal.ts";

const shells: ChildProcess[] = [];
// A failed test may have left the command running. It is in its shell's process group.
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
  // As npm does it: a shell between npm and the command, with variables that identify it as npm's shell.
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
  // The output closes when the last process that holds it has ended.
  await closed;
  expect(said).toContain("Stopping.");
});
