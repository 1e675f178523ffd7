/** Under which name an app stands in a store: its own, or else that of the package it belongs to. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { App } from "../core/app/app.ts";
import { isAppName } from "../core/app/name.ts";
import { UNNAMED_APP } from "../store/declaration.ts";

/** `file` is the app's own where it is known; else the package is that of the working directory. */
export function appName(app: App, file?: string | URL): string {
  return (
    app.name ??
    packageName(file === undefined ? process.cwd() : dirname(resolve(pathOf(file)))) ??
    UNNAMED_APP
  );
}

export const pathOf = (file: string | URL): string =>
  file instanceof URL || file.startsWith("file:") ? fileURLToPath(file) : file;

/** Of the nearest package.json, if that has one that we can use. */
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
