// The worker process as one plain module: where processes are killed by the dozen, loading their sources each time would
// take longer than everything else.

import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { onTestFinished } from "vitest";
import { top } from "../../support/built-cli.ts";

const MAIN = fileURLToPath(new URL("../../runs/support/worker-process.ts", import.meta.url));

/** The path of its main module; it goes away with the test. */
export async function builtWorker(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-worker-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(join(top, "node_modules"), join(folder, "node_modules"));
  await build({
    configFile: false,
    root: top,
    logLevel: "error",
    build: {
      ssr: MAIN,
      outDir: join(folder, "out"),
      rollupOptions: { output: { format: "es", entryFileNames: "main.mjs", chunkFileNames: "[name].mjs" } },
    },
  });
  return join(folder, "out", "main.mjs");
}
