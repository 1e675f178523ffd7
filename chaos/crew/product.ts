/** The built product as a command line: where it is, what its workers are called with, how to run one command. */
import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export interface Product {
  /** The folder with `dist` and the app. */
  readonly root: string;
  readonly cli: string;
  readonly app: string;
  /** Its workers have child processes. */
  readonly hasProcesses: boolean;
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export function productAt(root = ROOT): Product {
  const cli = join(root, "dist/surface/cli/main.js");
  const help = spawnSync(process.execPath, [cli, "worker", "--help"], { encoding: "utf8" }).stdout;
  return { root, cli, app: join(root, "chaos/app/app.ts"), hasProcesses: help.includes("--processes") };
}

/** How a worker is started: the one place to change when its options do. */
export function workerArgs({ cli, app, hasProcesses }: Product, store: string, graceMs: number): string[] {
  const slots = hasProcesses ? ["--processes=2", "--concurrency=2"] : ["--slots=4"];
  return [cli, "worker", app, ...slots, "--store", store, "--grace", `${graceMs}ms`];
}

/** One command, with its words. */
export async function command({ cli }: Product, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [cli, ...args], { timeout: 60_000 });
  return stdout;
}
