/**
 * The location of the store: a flag wins over the environment, which wins over the default. Also writes
 * commands to paste.
 */
import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { basename, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { defaultStore, masked } from "../../api/open-store.ts";
import { quoted } from "./shell.ts";
import { UsageError } from "./usage-error.ts";

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
  return defaultStore();
}

/** The path of a `file:` URL. Undefined for all others. */
export function fileOf(url: string): string | undefined {
  if (!url.startsWith("file:")) return undefined;
  return resolve(url.startsWith("file://") ? fileURLToPath(url) : url.slice("file:".length));
}

/** The store as shown to people: without a password, and as a path if it is a file. */
export function sayStore(url: string): string {
  const file = fileOf(url);
  return file === undefined ? masked(url) : sayPath(file);
}

/** The path relative to the working directory, if it is below it. Otherwise the absolute path. */
export function sayPath(path: string): string {
  const near = relative(process.cwd(), path);
  return near.startsWith("..") ? resolve(path) : near;
}

/**
 * Completes a command, given without its first word, so that it can be pasted into the shell that ran this
 * one.
 */
export function toPaste({ store, storagePath }: GlobalOptions, command: string): string {
  const named = store
    ? ` --store ${isSecret(store) ? '"$SLUICE_STORE"' : quoted(store)}`
    : storagePath
      ? ` --storage-path ${quoted(storagePath)}`
      : "";
  return `${invocation()} ${command}${named}`;
}

/** A command to paste must not show a password, and must work. So such a store is named by its variable. */
const isSecret = (store: string): boolean => masked(store) !== store;

const SOURCE = /\.[cm]?[jt]s$/;

/** The app's file for a command to paste: the file that was given, or one in the working directory. */
export function appFile(): string {
  const given = process.argv.slice(2).find((word) => SOURCE.test(word) && existsSync(word));
  const near = ["app.ts", "app.mts", "app.js", "app.mjs"].find((name) => existsSync(name));
  return quoted(given ?? near ?? "app.ts");
}

/**
 * `sluice` counts as being on the path only if it was run from there: not under npm, and not if the file was
 * run by name.
 */
function invocation(): string {
  const byName = basename(process.argv[1] ?? "") === "sluice";
  return byName && process.env.npm_command === undefined ? "sluice" : "npx sluice";
}

/** The name that is recorded with a change. */
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
