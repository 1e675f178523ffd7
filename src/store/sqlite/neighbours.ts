/**
 * Other processes on the same file. They show in two ways: the lock was taken when we wanted it, or the
 * file's data version moved without us. A moved data version also wakes the listeners of this process.
 */

import type { DatabaseSyncInstance, StatementSyncInstance } from "@photostructure/sqlite";
import type { Hear, Hint } from "../../core/hint.ts";
import type { Cancel } from "../../env/env.ts";
import { after } from "../../env/timers.ts";
import type { Row } from "../row.ts";
import { int } from "../row.ts";
import type { SqliteTime } from "./time.ts";

/** A look costs a system call or two, so it is frequent only while something happens. */
const WATCH_EVERY_MS = 4;
const WATCH_IDLE_MS = 20;
const IDLE_AFTER_MS = 1_000;
/** How long after the last sign of a neighbour we still leave the lock free in turn. */
const REMEMBERED_MS = 2_000;
/** How often a listening process checks that its file still exists. */
const FILE_EVERY_MS = 500;

export class Neighbours {
  readonly #version: StatementSyncInstance;
  readonly #time: SqliteTime;
  readonly #isGone: () => boolean;
  readonly #listeners = new Set<Hear>();
  #lastVersion: number;
  #lastMet = Number.NEGATIVE_INFINITY;
  #freeUntil = 0;
  #lastStir = Number.NEGATIVE_INFINITY;
  #fileAt = Number.NEGATIVE_INFINITY;
  #watch: Cancel | undefined;

  constructor(db: DatabaseSyncInstance, time: SqliteTime, isGone: () => boolean) {
    this.#version = db.prepare("PRAGMA data_version");
    this.#time = time;
    this.#isGone = isGone;
    this.#lastVersion = this.#read();
  }

  /** Another process had the lock. */
  met(): void {
    this.#lastMet = this.#time.lease();
  }

  /** We held the lock for this long. Now the other processes get the same time. */
  held(ms: number): void {
    this.#freeUntil = this.#time.lease() + ms;
  }

  async giveWay(): Promise<void> {
    if (this.#time.lease() - this.#lastMet > REMEMBERED_MS) return;
    const rest = this.#freeUntil - this.#time.lease();
    if (rest > 0) await this.#time.sleep(Math.max(1, Math.ceil(rest)));
  }

  listen(hear: Hear): () => Promise<void> {
    this.#listeners.add(hear);
    this.#watch ??= this.#later();
    return async () => {
      this.#listeners.delete(hear);
      if (this.#listeners.size === 0) this.stop();
    };
  }

  /** Listeners in this process hear it at once; other processes see the data version move. */
  tell(hint: Hint): void {
    this.#lastStir = this.#time.lease();
    for (const hear of this.#listeners) hear(hint);
  }

  stop(): void {
    this.#watch?.();
    this.#watch = undefined;
  }

  #later(): Cancel {
    const isIdle = this.#time.lease() - this.#lastStir > IDLE_AFTER_MS;
    const look = (): void => {
      this.#watch = this.#later();
      this.#look();
    };
    return after(isIdle ? WATCH_IDLE_MS : WATCH_EVERY_MS, look);
  }

  #look(): void {
    const version = this.#read();
    const isMoved = version !== this.#lastVersion;
    if (!isMoved && !this.#hasLostFile()) return;
    this.#lastVersion = version;
    if (isMoved) this.met();
    // The version does not say what the others did, so listeners get all hints. If the file is gone, they all
    // look and get the error.
    this.tell("work");
    this.tell("cancel");
    this.tell("runs");
    this.tell("feed");
  }

  #hasLostFile(): boolean {
    const now = this.#time.lease();
    if (now - this.#fileAt < FILE_EVERY_MS) return false;
    this.#fileAt = now;
    return this.#isGone();
  }

  #read(): number {
    const row: Row = this.#version.get();
    return int(row.data_version);
  }
}
