// Our sources as plain JavaScript, made once per test run: what every test file imports is then loaded by Node itself.
// Left to vitest, each file has some 400 modules sent, evaluated and their imports looked up at every use.

import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { transformWithOxc } from "vite";
import { top } from "./built-cli.ts";

/** Makes `src` in `folder`: file by file, beside a package.json as in the clone, with maps that lead back to the sources. */
export async function plainSource(folder: string): Promise<string> {
  const plain = join(folder, "src");
  symlinkSync(join(top, "package.json"), join(folder, "package.json"));
  const source = join(top, "src");
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(isProduct);
  await Promise.all(files.map((file) => write(join(source, file), join(plain, `${file.slice(0, -3)}.js`))));
  return plain;
}

const isProduct = (file: string): boolean => file.endsWith(".ts") && !/\.(test|d)\.ts$/.test(file);

async function write(source: string, path: string): Promise<void> {
  const { code, map } = await transformWithOxc(readFileSync(source, "utf8"), source, {
    sourcemap: true,
    typescript: { onlyRemoveTypeImports: true, rewriteImportExtensions: "rewrite" },
  });
  const url = `data:application/json;base64,${Buffer.from(JSON.stringify({ ...map, sources: [source] })).toString("base64")}`;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${code}\n//# sourceMappingURL=${url}\n`);
}
