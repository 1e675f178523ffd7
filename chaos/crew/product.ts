/** The built product as a command line: where it is, how its workers are started, how to run a command. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export interface Product {
  /** The folder with `dist` and the app. */
  readonly root: string;
  readonly cli: string;
  readonly app: string;
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export function productAt(root = ROOT): Product {
  const cli = join(root, "dist/surface/cli/main.js");
  return { root, cli, app: join(root, "chaos/app/app.ts") };
}

/**
 * How a worker is started: the one place to change if its options do. The first worker runs one task per
 * process and serves everything, including code that blocks. The others run several at once and serve only
 * code that waits.
 */
export function workerArgs({ cli, app }: Product, post: number, store: string, graceMs: number): string[] {
  const shape = post === 0 ? ["--concurrency=1"] : ["--concurrency=2", "--queues=fast,slow,bulk"];
  return [cli, "worker", app, "--processes=2", ...shape, "--store", store, "--grace", `${graceMs}ms`];
}

/** Runs one command and returns its output. */
export async function command({ cli }: Product, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [cli, ...args], { timeout: 60_000 });
  return stdout;
}
