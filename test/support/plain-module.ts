// Compiles the main modules of other processes to plain JavaScript, once per test run. Tests start dozens of
// processes, and loading TypeScript would take each of them several times as long as everything else.

import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inject } from "vitest";
import { top } from "./built-cli.ts";
import { locked } from "./locked.ts";

const made = new Map<string, Promise<string>>();

/** The path of a plain module for the TypeScript at `main`, bundled with all it imports from our sources. */
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
  // Imported here because only one test file in many builds a module.
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
