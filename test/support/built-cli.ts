// Builds the command once. Several test files may need it at the same time, and each build would replace
// dist.

import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { locked } from "./locked.ts";

export const top = fileURLToPath(new URL("../..", import.meta.url));

let built: Promise<string> | undefined;

/**
 * Builds if needed and returns the path of the command's main file. Each test file checks once, because
 * sources do not change during a run.
 */
export function builtCli(): Promise<string> {
  built ??= build();
  return built;
}

async function build(): Promise<string> {
  await locked(join(top, "dist-next-lock"), async () => {
    const script = 'import { build } from "./scripts/ready.mjs"; process.exitCode = (await build()) ? 0 : 1;';
    await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], { cwd: top });
  });
  return join(top, "dist/surface/cli/main.js");
}
