// The files of the repository that the house rules check.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { SourceFile } from "../rooms.ts";

const top = fileURLToPath(new URL("../../..", import.meta.url));

/** Every TypeScript file in these folders. */
export function filesOf(...folders: readonly string[]): SourceFile[] {
  return folders
    .map((folder) => join(top, folder))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.(?:m?ts|mjs)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes(`${sep}node_modules${sep}`))
    .map((file) => ({ path: relative(top, file).split(sep).join("/"), text: readFileSync(file, "utf8") }));
}

/** The files of src that users import, according to package.json, and the program they start. */
export function entryFiles(): string[] {
  const { exports, bin } = JSON.parse(readFileSync(join(top, "package.json"), "utf8"));
  const built = [...Object.values(exports), ...Object.values(bin)].map((entry) =>
    typeof entry === "object" && entry !== null && "default" in entry ? entry.default : entry,
  );
  return built
    .map(String)
    .filter((path) => path.endsWith(".js"))
    .map((path) => path.replace(/^(?:\.\/)?dist\//, "src/").replace(/\.js$/, ".ts"));
}
