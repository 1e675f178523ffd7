/** The name of an app in a store: its own name, or else the name of its package. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { App } from "../core/app/app.ts";
import { isAppName } from "../core/app/name.ts";
import { SluiceError } from "../core/error.ts";
import { shortly } from "../core/text.ts";
import { UNNAMED_APP } from "../store/declaration.ts";

/** `file` is the app's own file, if known. Without it, the package is that of the working directory. */
export function appName(app: App, file?: string | URL): string {
  if (file !== undefined && typeof file !== "string" && !(file instanceof URL))
    throw new SluiceError(
      "BAD_OPTIONS",
      `The app's own file must be a path or a URL, but is ${shortly(file)}.`,
    );
  return (
    app.name ??
    packageName(file === undefined ? process.cwd() : dirname(resolve(pathOf(file)))) ??
    UNNAMED_APP
  );
}

export function pathOf(file: string | URL): string {
  if (!(file instanceof URL) && !file.startsWith("file:")) return file;
  try {
    return fileURLToPath(file);
  } catch (cause) {
    throw new SluiceError(
      "BAD_OPTIONS",
      `${shortly(String(file))} is not the URL of a file: ${(cause as Error).message}.`,
      { cause },
    );
  }
}

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
