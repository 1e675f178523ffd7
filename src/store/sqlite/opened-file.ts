/**
 * The file that was opened, as opposed to the one that its path names now. If a file was deleted, moved or
 * replaced, a process keeps it open and SQLite goes on writing to it. Another process that opens the path has
 * a different store, and every limit would count twice. So the device and inode of the path are compared with
 * those that were opened.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { SluiceError } from "../../core/error.ts";

export class OpenedFile {
  readonly #path: string;
  /** Undefined if there is no file, as for a database in memory. */
  readonly #opened: string | undefined;
  #isGone = false;

  /** Create this once the file is open: SQLite has created the file by then. */
  constructor(path: string) {
    // The process may change its working directory, but SQLite keeps the path that it opened.
    this.#path = resolve(path);
    this.#opened = identityOf(this.#path);
  }

  /**
   * Never becomes false again: a file that comes back may have been changed by processes that did not see our
   * locks.
   */
  get isGone(): boolean {
    if (this.#opened === undefined || this.#isGone) return this.#isGone;
    try {
      this.#isGone = identityOf(this.#path) !== this.#opened;
    } catch {
      // If the system cannot tell, that is no reason to stop.
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

/** One system call, a few microseconds. Undefined if there is no such file. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}
