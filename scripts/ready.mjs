// Makes a clone ready to run: installs according to the lockfile, builds src, and does neither twice. It
// compares contents, not file times, because a checkout or a copy may set any times.

import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { node, npm } from "./run.mjs";

export const root = fileURLToPath(new URL("..", import.meta.url));

export async function ready() {
  await install(root);
  if (!(await build())) fail("The build failed, see the errors of tsc above.");
}

/** Runs `npm ci` in `folder` unless its node_modules already matches its lockfile. */
export async function install(folder) {
  if (!(await tryInstall(folder))) fail("npm ci failed, see above.");
}

/** The same. Returns false if npm failed. */
export async function tryInstall(folder) {
  if (isInstalled(folder)) return true;
  console.log(`Installing dependencies in ${folder}`);
  // The build and test tools are dev dependencies, needed even if NODE_ENV is production.
  return (await npm(["ci", "--include=dev"], { cwd: folder })) === 0;
}

/**
 * Compiles src into dist unless dist was built from exactly this source. Returns false if the compiler
 * failed.
 */
export async function build({ force = false } = {}) {
  const source = join(root, "src");
  const dist = join(root, "dist");
  const stamp = join(dist, ".built");
  if (!existsSync(source)) return true;
  const wanted = fingerprint();
  if (!force && existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return true;

  // Compile to another folder and move it in one step: a failed build leaves the old dist, a good one leaves
  // no stale file.
  const next = join(root, `dist-next-${process.pid}`);
  process.once("exit", () => rmSync(next, { recursive: true, force: true }));
  if (
    (await node(["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json", "--outDir", next])) !== 0
  ) {
    return false;
  }
  copyAssets(source, next);
  const cli = join(next, "surface/cli/main.js");
  if (existsSync(cli)) chmodSync(cli, 0o755);
  writeFileSync(join(next, ".built"), wanted);
  rmSync(dist, { recursive: true, force: true });
  renameSync(next, dist);
  return true;
}

function isInstalled(folder) {
  // npm keeps this second lockfile, which lists what is really installed.
  const there = join(folder, "node_modules/.package-lock.json");
  if (!existsSync(there)) return false;
  const wanted = packagesOf(join(folder, "package-lock.json"));
  const present = packagesOf(there);
  return Object.entries(wanted).every(([path, entry]) => {
    if (!path.startsWith("node_modules/") || entry.link) return true;
    // Optional packages are mostly binaries for other platforms, and absent on purpose.
    if (!present[path]) return entry.optional === true || entry.devOptional === true;
    return present[path].version === entry.version;
  });
}

function packagesOf(lockfile) {
  return JSON.parse(readFileSync(lockfile, "utf8")).packages;
}

function fingerprint() {
  const hash = createHash("sha256");
  const files = [
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "tsconfig.build.json",
    ...sourceFiles(),
  ];
  for (const file of files)
    hash
      .update(file)
      .update("\0")
      .update(readFileSync(join(root, file)))
      .update("\0");
  return hash.digest("hex");
}

function sourceFiles() {
  return readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .sort();
}

function copyAssets(source, target) {
  // tsc emits only what it compiles. Any other file that is read at run time is copied as it is.
  cpSync(source, target, { recursive: true, filter: (path) => ![".ts", ".md"].includes(extname(path)) });
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
