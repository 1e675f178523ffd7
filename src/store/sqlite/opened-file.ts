/**
 * The file that was opened, as opposed to the one that its path names now. If a file was deleted, moved or
 * replaced, a process keeps it open and SQLite goes on writing to it. Another process that opens the path has
 * a different store, and every limit would count twice. So the device and inode of the path are compared with
 * those that were opened. A file that was emptied has lost its tables, and SQLite goes on with its cache and
 * its log. Once written, a store's file is never empty again by itself.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { SluiceError } from "../../core/error.ts";

export class OpenedFile {
  readonly #path: string;
  /** Undefined if there is no file, as for a database in memory. */
  readonly #opened: string | undefined;
  #isGone = false;
  #wasWritten = false;

  /** Create this once the file is open: SQLite has created the file by then. */
  constructor(path: string) {
    // The process may change its working directory, but SQLite keeps the path that it opened.
    this.#path = resolve(path);
    const found = lookAt(this.#path);
    this.#opened = found?.identity;
    this.#wasWritten = found?.isEmpty === false;
  }

  /**
   * Never becomes false again: a file that comes back may have been changed by processes that did not see our
   * locks.
   */
  get isGone(): boolean {
    if (this.#opened === undefined || this.#isGone) return this.#isGone;
    try {
      const found = lookAt(this.#path);
      this.#isGone = found?.identity !== this.#opened || (this.#wasWritten && found?.isEmpty === true);
      this.#wasWritten ||= found?.isEmpty === false;
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
      `The file ${this.#path} was deleted, moved, replaced or emptied while it was open. Nothing is read from it or written to it any more: start again once the right file is in its place.`,
    );
  }
}

/** One system call, a few microseconds. Undefined if there is no such file. */
function lookAt(path: string): { readonly identity: string; readonly isEmpty: boolean } | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && { identity: `${found.dev}:${found.ino}`, isEmpty: found.size === 0n };
}
