// The built command, made once: several test files may ask for it at the same time, and each would replace dist.

import { execFile } from "node:child_process";
import { mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const top = fileURLToPath(new URL("../..", import.meta.url));
const lock = join(top, "dist-next-lock");
/** Longer than any build takes: whoever left it there is gone. */
const STALE_MS = 120_000;

let built: Promise<string> | undefined;

/** Builds what is not built yet; the path of the command's main file. A test file looks once: sources stay as they are. */
export function builtCli(): Promise<string> {
  built ??= build();
  return built;
}

async function build(): Promise<string> {
  await locked(async () => {
    const script = 'import { build } from "./scripts/ready.mjs"; process.exitCode = (await build()) ? 0 : 1;';
    await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], { cwd: top });
  });
  return join(top, "dist/surface/cli/main.js");
}

async function locked(work: () => Promise<void>): Promise<void> {
  while (!taken()) await sleep(50);
  try {
    await work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function taken(): boolean {
  const left = statSync(lock, { throwIfNoEntry: false });
  if (left && Date.now() - left.mtimeMs > STALE_MS) rmSync(lock, { recursive: true, force: true });
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}
