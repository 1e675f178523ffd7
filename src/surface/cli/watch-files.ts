/** Watches source files in a folder and below it, except in folders that are installed, built or hidden. */
import type { Dirent } from "node:fs";
import { readdirSync, watch } from "node:fs";
import { join } from "node:path";

const SOURCE = /\.(?:[cm]?[jt]sx?|json)$/;
const PASSED_OVER = new Set(["node_modules", "dist", "build", "coverage"]);
/** A folder with more than this is not an app's folder but probably a home directory. */
const MOST_FOLDERS = 500;

export function watchFiles(folder: string, changed: (path: string) => void): () => void {
  const watchers = foldersBelow(folder).map((each) => {
    const watcher = watch(each, (_, name) => {
      if (name !== null && SOURCE.test(name)) changed(join(each, name));
    });
    // A folder that disappears is no reason to exit.
    return watcher.on("error", () => watcher.close());
  });
  return () => {
    for (const watcher of watchers) watcher.close();
  };
}

function foldersBelow(folder: string): string[] {
  const found = [folder];
  for (let index = 0; index < found.length && found.length < MOST_FOLDERS; index += 1) {
    const parent = found[index] as string;
    for (const entry of entriesOf(parent)) {
      if (entry.isDirectory() && !entry.name.startsWith(".") && !PASSED_OVER.has(entry.name))
        found.push(join(parent, entry.name));
    }
  }
  return found.slice(0, MOST_FOLDERS);
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
