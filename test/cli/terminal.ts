// A user's project with the package installed, and a terminal beside it: runs the built `sluice` as a child
// process.

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { bundledCli, bundledPackage } from "../support/bundled-package.ts";

const projects: string[] = [];
let cli = "";

beforeAll(async () => {
  cli = await bundledCli();
});

afterAll(() => {
  for (const folder of projects) rmSync(folder, { recursive: true, force: true });
});

/** Has the same queues and pools as the workers' app, so that declaring it changes nothing. */
const APP = `
import { defineApp, task } from "sluice";
const of = (id) => task({ id, queue: id, run: () => id });
export default defineApp({
  tasks: [of("stripe"), of("email"), of("bulk")],
  clusterCap: 20,
  queues: { stripe: { rank: 1, maxConcurrency: 3 }, email: { rank: 50, maxConcurrency: 10 }, bulk: { rank: 100 } },
  pools: { database: { limit: 5 }, api: { limit: 5 } },
});
`;

export function newProject(app = APP): string {
  const folder = mkdtempSync(join(tmpdir(), "sluice-terminal-"));
  projects.push(folder);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "app.js"), app);
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(bundledPackage(), join(folder, "node_modules/sluice"), "dir");
  return folder;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly uid?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Written to the command's stdin. */
  readonly input?: string;
}

/** Starts a command that keeps running. The caller must end it. */
export function start(
  project: string,
  args: readonly string[],
  { uid, env }: Running = {},
): ChildProcessWithoutNullStreams {
  const { SLUICE_STORE: _, npm_command: __, ...rest } = process.env;
  return spawn(process.execPath, [cli, ...args], {
    cwd: project,
    env: { ...rest, ...env },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
}

export function sluice(project: string, args: readonly string[], running: Running = {}): Promise<Ended> {
  const child = start(project, args, running);
  child.stdin.end(running.input ?? "");
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}

/** The command's stdout. Fails unless the command succeeded without errors. */
export async function says(project: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await sluice(project, args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
  return stdout;
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON a script would get; the test that asked checks it.
export async function gives(project: string, ...args: string[]): Promise<any> {
  return JSON.parse(await says(project, ...args, "--json"));
}
