/**
 * Keeps disk space for the small writes that running work depends on. Without it, a full disk would keep
 * leases from being renewed, and so end work that has nothing to do with the disk. A file beside the database
 * takes up the space. When the disk is full, the file is deleted, and only vital writes are done until there
 * is room for the file again. Every process on the database notices the missing file.
 */
import { randomBytes } from "node:crypto";
import { existsSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { SluiceError } from "../../core/error.ts";

const RESERVE_BYTES = 1024 * 1024;
const LOOK_EVERY_MS = 500;

export class DiskReserve {
  readonly #database: string;
  readonly #file: string;
  readonly #now: () => number;
  #lookAt = 0;
  #kept = false;

  constructor(database: string, now: () => number) {
    this.#database = database;
    this.#file = `${database}-reserve`;
    this.#now = now;
  }

  /** If the disk is nearly full at the start, there is no reserve, and writes work as they would without one. */
  keep(): void {
    this.#kept = this.#isThere() || this.#take();
  }

  /** Throws while the disk is full. */
  check(): void {
    if (!this.#kept || this.#isThere()) return;
    const now = this.#now();
    if (now < this.#lookAt) throw this.#full();
    this.#lookAt = now + LOOK_EVERY_MS;
    if (!this.#take()) throw this.#full();
  }

  /** From now on only vital writes are done. */
  giveUp(cause: unknown): SluiceError {
    rmSync(this.#file, { force: true });
    this.#lookAt = this.#now() + LOOK_EVERY_MS;
    return this.#full(cause);
  }

  #isThere(): boolean {
    return existsSync(this.#file);
  }

  /**
   * Takes the reserve only if as much space is left beside it; otherwise the next write would give it up
   * again.
   */
  #take(): boolean {
    try {
      const { bavail, bsize } = statfsSync(dirname(this.#database));
      if (bavail * bsize < 2 * RESERVE_BYTES) return false;
      // The bytes are random, or a compressing file system would reserve no space.
      writeFileSync(this.#file, randomBytes(RESERVE_BYTES));
      return true;
    } catch {
      rmSync(this.#file, { force: true });
      return false;
    }
  }

  #full(cause?: unknown): SluiceError {
    return new SluiceError(
      "STORE_FULL",
      `The disk of ${this.#database} is full. Running tasks continue, but nothing new is accepted. Work resumes automatically when there is space.`,
      { cause },
    );
  }
}
