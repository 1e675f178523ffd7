// The built package with its modules put together, made once per test run: a test starts `sluice` by the hundred, and each
// process would load some 400 files. What users get, file by file, runs in the tests of docs, of packages and of runs on
// several executors, under npm, and in the storm.

import { existsSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin } from "vite";
import { inject } from "vitest";
import { builtCli, top } from "./built-cli.ts";
import { locked } from "./locked.ts";

let made: Promise<void> | undefined;

/** The folder of a package `sluice`, to be linked into a project; it is there when `bundledCli` has been. */
export const bundledPackage = (): string => join(inject("plainModules"), "package");

/** Makes what is not made yet; the path of the command's main file. */
export async function bundledCli(): Promise<string> {
  made ??= make(bundledPackage());
  await made;
  return join(bundledPackage(), "dist", MAIN);
}

const MAIN = "surface/cli/main.js";
/** The modules that are started or imported by their path. */
const ENTRIES = [MAIN, "executor/process/app-child.js"];

async function make(folder: string): Promise<void> {
  await builtCli();
  await locked(`${folder}.lock`, async () => {
    if (existsSync(folder)) return;
    const next = `${folder}-next`;
    await bundle(join(next, "dist"), join(folder, "dist"));
    symlinkSync(join(top, "package.json"), join(next, "package.json"));
    renameSync(next, folder);
  });
}

async function bundle(outDir: string, place: string): Promise<void> {
  // Loaded by whoever makes one, and that is one test file in many.
  const { build } = await import("vite");
  const names = [...ENTRIES, ...exported()].map((file) => file.slice(0, -".js".length));
  await build({
    configFile: false,
    root: top,
    logLevel: "error",
    plugins: [ownPlace(place)],
    build: {
      ssr: true,
      outDir,
      rollupOptions: {
        input: Object.fromEntries(names.map((name) => [name, join(top, "dist", `${name}.js`)])),
        output: { format: "es", entryFileNames: "[name].js", chunkFileNames: "chunks/[name]-[hash].js" },
      },
    },
  });
}

function exported(): string[] {
  const { exports } = JSON.parse(readFileSync(join(top, "package.json"), "utf8")) as {
    exports: Record<string, string | { default: string }>;
  };
  return Object.values(exports).flatMap((found) =>
    typeof found === "string" ? [] : [found.default.slice("./dist/".length)],
  );
}

/** A module that looks for a file beside itself finds it, wherever its text has gone. */
function ownPlace(place: string): Plugin {
  const dist = join(top, "dist");
  return {
    name: "sluice-own-place",
    transform(code, id) {
      if (!id.startsWith(dist)) return null;
      const url = pathToFileURL(join(place, id.slice(dist.length))).href;
      return code.replaceAll("import.meta.url", JSON.stringify(url));
    },
  };
}
