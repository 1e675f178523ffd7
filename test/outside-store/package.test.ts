// An outside author has only the package: its declared types, through its exports. The toy store compiles
// against these.

import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const top = fileURLToPath(new URL("../..", import.meta.url));
const here = fileURLToPath(new URL(".", import.meta.url));
const outside = mkdtempSync(join(tmpdir(), "outside-store-"));

const SETTINGS = {
  compilerOptions: {
    target: "es2023",
    module: "nodenext",
    types: ["node"],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  },
  include: ["*.ts"],
};

/** The compiler's output, empty if all is well. */
function compile(...args: readonly string[]): Promise<string> {
  const compiler = join(top, "node_modules/typescript/bin/tsc");
  return new Promise((resolve) => {
    execFile(process.execPath, [compiler, ...args], (_, said) => resolve(said));
  });
}

beforeAll(async () => {
  const modules = join(outside, "node_modules");
  const sluice = join(modules, "sluice");
  mkdirSync(sluice, { recursive: true });
  for (const name of readdirSync(join(top, "node_modules")))
    if (name !== "sluice") symlinkSync(join(top, "node_modules", name), join(modules, name));
  cpSync(join(top, "package.json"), join(sluice, "package.json"));
  const build = ["-p", join(top, "tsconfig.build.json"), "--emitDeclarationOnly", "--sourceMap", "false"];
  expect(await compile(...build, "--outDir", join(sluice, "dist"))).toBe("");
  for (const name of readdirSync(here))
    if (name !== "package.test.ts") cpSync(join(here, name), join(outside, name));
  writeFileSync(join(outside, "package.json"), '{ "type": "module" }');
  writeFileSync(join(outside, "tsconfig.json"), JSON.stringify(SETTINGS));
});

afterAll(() => rmSync(outside, { recursive: true, force: true }));

test("a store and its test compile with the package's types alone", async () => {
  expect(await compile("-p", outside)).toBe("");
});

test("a store that lacks a verb of a port, or reaches past the exports, does not", async () => {
  const lacking = join(outside, "lacking.ts");
  writeFileSync(
    lacking,
    [
      'import type { GatePort } from "sluice/store";',
      'import type { Store } from "sluice/store/store";',
      "export const gates: GatePort = { gates: async () => [], limits: async () => new Map() };",
      "export const all: Store | undefined = undefined;",
    ].join("\n"),
  );
  const said = await compile("-p", outside);
  rmSync(lacking);
  expect(said.match(/lacking\.ts\(\d+,\d+\): error TS\d+/g)).toEqual([
    "lacking.ts(2,28): error TS2307",
    "lacking.ts(3,14): error TS2739",
  ]);
});
