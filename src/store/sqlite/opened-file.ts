/**
 * The file that was opened, as opposed to the one that its path names by now. A process keeps a file that was deleted,
 * moved or replaced, and SQLite goes on writing to it. Whoever opens the path then has another store, and every limit
 * would count twice. So the device and the inode of the path are compared with those that were opened.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { SluiceError } from "../../core/error.ts";

export class OpenedFile {
  readonly #path: string;
  /** Undefined where there is no file, as for a database in memory. */
  readonly #opened: string | undefined;
  #isGone = false;

  /** Made once the file is open, which is when SQLite has created it. */
  constructor(path: string) {
    // The process may change its folder; SQLite keeps the path that it opened.
    this.#path = resolve(path);
    this.#opened = identityOf(this.#path);
  }

  /** For good: a file that comes back may have been changed meanwhile by others who did not see our locks. */
  get isGone(): boolean {
    if (this.#opened === undefined || this.#isGone) return this.#isGone;
    try {
      this.#isGone = identityOf(this.#path) !== this.#opened;
    } catch {
      // The system could not say, which is no reason to stop.
    }
    return this.#isGone;
  }

  /** Throws once the file is gone. */
  check(): void {
    if (!this.isGone) return;
    throw new SluiceError(
      "STORE_GONE",
      `The file ${this.#path} was deleted, moved or replaced while it was open. Nothing is read from it or written to it any more: start again once the right file is in its place.`,
    );
  }
}

/** One system call, some microseconds. Undefined where there is no such file. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}
