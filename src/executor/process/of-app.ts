/** Creates an executor whose processes run the code of an app file. */
import { loadTimeoutMs } from "./app-loading.ts";
import type { ProcessExecutorOptions } from "./process-executor.ts";
import { ProcessExecutor } from "./process-executor.ts";

export function processesOf(
  file: string,
  options: Omit<ProcessExecutorOptions, "entry" | "argv">,
): ProcessExecutor {
  return new ProcessExecutor({ entry: ENTRY, argv: [file], loadMs: loadTimeoutMs(), ...options });
}

/** Lies next to this file, both in the sources and in the build. */
const ENTRY = new URL(import.meta.url.endsWith(".ts") ? "./app-child.ts" : "./app-child.js", import.meta.url);
