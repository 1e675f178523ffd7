/** Where the state is: flag before environment before default; and how to say so in a command to paste. */
import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { basename, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { DEFAULT_STORE, masked } from "../../api/open-store.ts";
import { quoted } from "../../core/shell.ts";
import { UsageError } from "./failure.ts";

export interface GlobalOptions {
  readonly store?: string;
  readonly storagePath?: string;
  readonly json?: boolean;
}

export function storeUrl({ store, storagePath }: GlobalOptions): string {
  if (store !== undefined && storagePath !== undefined)
    throw new UsageError("give either --store or --storage-path, not both");
  if (store !== undefined) return store;
  if (storagePath !== undefined) return `file:${join(storagePath, "sluice.db")}`;
  return process.env.SLUICE_STORE || DEFAULT_STORE;
}

/** The path behind a `file:` URL; undefined for all others. */
export function fileOf(url: string): string | undefined {
  if (!url.startsWith("file:")) return undefined;
  return resolve(url.startsWith("file://") ? fileURLToPath(url) : url.slice("file:".length));
}

/** Where the state is, as people read it: without a password, and as a path where it is one. */
export function sayStore(url: string): string {
  const file = fileOf(url);
  return file === undefined ? masked(url) : sayPath(file);
}

/** As seen from here, where that is shorter to read. */
export function sayPath(path: string): string {
  const near = relative(process.cwd(), path);
  return near.startsWith("..") ? resolve(path) : near;
}

/** A command as it works when pasted into the shell that ran this one. */
export function toPaste({ store, storagePath }: GlobalOptions, command: string): string {
  const named = store
    ? ` --store ${quoted(masked(store))}`
    : storagePath
      ? ` --storage-path ${quoted(storagePath)}`
      : "";
  const called = command.replace(PLACEHOLDER, (_, words: string) => `${words} ${appFile()}`);
  return `${called.replace(/^sluice\b/, invocation())}${named}`;
}

/** "app.ts" stands for the app's file where a command begins with it, and nowhere else: paths and names may hold it, too. */
const PLACEHOLDER = /^(sluice(?: [a-z]+)+) app\.ts(?= |$)/;

const SOURCE = /\.[cm]?[jt]s$/;

/** Hints speak of app.ts. Here is known which file was given, or which one lies here. */
function appFile(): string {
  const given = process.argv.slice(2).find((word) => SOURCE.test(word) && existsSync(word));
  const near = ["app.ts", "app.mts", "app.js", "app.mjs"].find((name) => existsSync(name));
  return quoted(given ?? near ?? "app.ts");
}

/** `sluice` is on the path only when it was found there: not under npm, and not when the file was run by name. */
function invocation(): string {
  const byName = basename(process.argv[1] ?? "") === "sluice";
  return byName && process.env.npm_command === undefined ? "sluice" : "npx sluice";
}

/** Who a change is put down to. */
export function whoever(by: string | undefined): string {
  return by || process.env.USER || nameOfUser() || "cli";
}

export function nameOfUser(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}
