/**
 * Room on the disk that is kept for the small writes on which running work depends: a lease that could not be renewed
 * because the disk is full would end work that has nothing to do with that. A file beside the database holds the
 * place. When the disk is full the file is given up, and until there is room for it again nothing else is written.
 * Every process on the database sees by the missing file that this is so.
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

  /** A disk that is nearly full when we start is not refused: then there is no reserve, and no difference either. */
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

  /** Only where as much is left beside it: else the next write would give it up again. */
  #take(): boolean {
    try {
      const { bavail, bsize } = statfsSync(dirname(this.#database));
      if (bavail * bsize < 2 * RESERVE_BYTES) return false;
      // Random, or a file system that compresses would keep no place for it.
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
