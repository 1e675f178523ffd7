/** Checks a file before it is opened as a store, because SQLite would only say that it cannot open it. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { SluiceError } from "../../core/error.ts";
import type { GlobalOptions } from "./settings.ts";
import { appFile, nameOfUser, sayPath, toPaste } from "./settings.ts";

/** Looking never creates a store, so the file must exist. */
export function mustBeThere(file: string, options: GlobalOptions): void {
  if (!existsSync(file)) {
    const isNamed = options.store !== undefined || options.storagePath !== undefined;
    throw new SluiceError(
      "NO_STORE",
      `There is no store at ${sayPath(file)} yet. Start one with: ${toPaste(options, `dev ${appFile()}`)}, or ${isNamed ? "check the path" : "name yours with --store or --storage-path"}.`,
    );
  }
  mustBeUsable(file);
}

/** An existing path must be a file that we may read and write, in a folder where SQLite can keep its log. */
export function mustBeUsable(file: string): void {
  if (!existsSync(file)) return;
  if (!statSync(file).isFile()) throw refused(`${sayPath(file)} is not a file.`);
  for (const path of [file, dirname(file)]) {
    try {
      accessSync(path, constants.R_OK | constants.W_OK);
    } catch {
      throw refused(
        `${sayPath(path) || "."} cannot be read and written by user ${nameOfUser() ?? "unknown"}. Even reading needs both: SQLite keeps a log next to the file.`,
      );
    }
  }
}

const refused = (why: string): SluiceError => new SluiceError("STORE_REFUSED", why);
