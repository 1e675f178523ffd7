// Main modules of other processes as plain JavaScript, made once per test run: processes are started by the dozen, and
// loading TypeScript takes each of them several times as long as everything else does.

import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inject } from "vitest";
import { top } from "./built-cli.ts";
import { locked } from "./locked.ts";

const made = new Map<string, Promise<string>>();

/** The path of a module that does what the TypeScript at `main` does, with all it imports from our sources. */
export function plainModule(main: URL): Promise<string> {
  const source = fileURLToPath(main);
  const path = made.get(source) ?? make(source);
  made.set(source, path);
  return path;
}

async function make(source: string): Promise<string> {
  const name = source.slice(top.length).replaceAll("/", "-").replace(/\.ts$/, "");
  const folder = join(inject("plainModules"), name);
  const path = join(folder, `${basename(source, ".ts")}.mjs`);
  await locked(`${folder}.lock`, async () => {
    if (!existsSync(path)) await bundle(source, folder, path);
  });
  return path;
}

async function bundle(source: string, outDir: string, path: string): Promise<void> {
  // Loaded by whoever makes one, and that is one test file in many.
  const { build } = await import("vite");
  await build({
    configFile: false,
    root: top,
    logLevel: "error",
    build: {
      ssr: source,
      outDir,
      rollupOptions: {
        output: { format: "es", entryFileNames: basename(path), chunkFileNames: "[name]-[hash].mjs" },
      },
    },
  });
}
