/** The name of an app in a store: its own name, or else the name of its package. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { App } from "../core/app/app.ts";
import { isAppName } from "../core/app/name.ts";
import { UNNAMED_APP } from "../store/declaration.ts";

/** `file` is the app's own file, if known. Without it, the package is that of the working directory. */
export function appName(app: App, file?: string | URL): string {
  return (
    app.name ??
    packageName(file === undefined ? process.cwd() : dirname(resolve(pathOf(file)))) ??
    UNNAMED_APP
  );
}

export const pathOf = (file: string | URL): string =>
  file instanceof URL || file.startsWith("file:") ? fileURLToPath(file) : file;

/** The name in the nearest package.json, if it is usable as an app name. */
function packageName(folder: string): string | undefined {
  const path = join(folder, "package.json");
  if (existsSync(path)) return nameIn(path);
  const parent = dirname(folder);
  return parent === folder ? undefined : packageName(parent);
}

function nameIn(path: string): string | undefined {
  try {
    const { name } = JSON.parse(readFileSync(path, "utf8")) as { name?: unknown };
    return isAppName(name) ? name : undefined;
  } catch {
    return undefined;
  }
}
