/** Processes that run the code of an app file. */
import { loadTimeoutMs } from "./app-loading.ts";
import type { ProcessExecutorOptions } from "./process-executor.ts";
import { ProcessExecutor } from "./process-executor.ts";

export function processesOf(
  file: string,
  options: Omit<ProcessExecutorOptions, "entry" | "argv">,
): ProcessExecutor {
  return new ProcessExecutor({ entry: ENTRY, argv: [file], loadMs: loadTimeoutMs(), ...options });
}

/** Beside this file, whether it runs as it was written or as it was built. */
const ENTRY = new URL(import.meta.url.endsWith(".ts") ? "./app-child.ts" : "./app-child.js", import.meta.url);
