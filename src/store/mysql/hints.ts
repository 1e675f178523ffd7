/**
 * Wake-ups between processes on MySQL, which has nothing like NOTIFY: a counter that grows, and a cheap look
 * at it every few milliseconds while there are listeners. They are only hints: the worker's poll remains the
 * safety net.
 */

import type { Pool, RowDataPacket } from "mysql2/promise";
import type { Hear, Hint } from "../../core/hint.ts";
import type { Cancel } from "../../env/env.ts";
import { after, every } from "../../env/timers.ts";

const LOOK_EVERY_MS = 15;
const COALESCE_MS = 10;
/** An unreachable store is asked less often: the pause doubles each time, up to this. */
const LONGEST_REST_MS = 2_000;

export class Hints {
  readonly #pool: Pool;
  readonly #listeners = new Set<Hear>();
  #seen: number | undefined;
  #stopLooks: Cancel | undefined;
  #telling: Cancel | undefined;
  #pending = false;
  #writing: Promise<unknown> | undefined;
  #looking: Promise<void> | undefined;
  #failures = 0;
  #restUntil = 0;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  listen(hear: Hear): () => Promise<void> {
    this.#listeners.add(hear);
    this.#stopLooks ??= every(LOOK_EVERY_MS, () => this.#lookAgain());
    return async () => {
      this.#listeners.delete(hear);
      if (this.#listeners.size === 0) this.#stopLooking();
    };
  }

  /**
   * Listeners in this process hear it at once. For other processes, the first hint is written at once, and
   * then at most one every ten milliseconds.
   */
  tell(hint: Hint): void {
    for (const hear of this.#listeners) hear(hint);
    if (this.#telling) this.#pending = true;
    else this.#write();
  }

  /**
   * Pending hints are written first: if a process cancels something and exits, no other process would
   * announce it. A look that is under way ends first, because the driver may forget it once its pool is ended.
   */
  async close(): Promise<void> {
    this.#stopLooking();
    if (this.#pending) this.#write();
    this.#telling?.();
    await Promise.all([this.#writing, this.#looking]);
  }

  #write(): void {
    this.#pending = false;
    this.#telling = after(COALESCE_MS, () => {
      this.#telling = undefined;
      if (this.#pending) this.#write();
    });
    const written = this.#pool.query("UPDATE sluice_hint SET n = n + 1 WHERE id = 1").catch(() => {});
    this.#writing = Promise.all([this.#writing, written]);
  }

  #lookAgain(): void {
    if (this.#looking || performance.now() < this.#restUntil) return;
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined;
    });
  }

  async #look(): Promise<void> {
    try {
      const [rows] = await this.#pool.query<RowDataPacket[]>("SELECT n FROM sluice_hint WHERE id = 1");
      this.#failures = 0;
      const n = Number(rows[0]?.n);
      const moved = this.#seen !== undefined && n !== this.#seen;
      this.#seen = n;
      // The counter does not say which hint it was, so listeners get all of them.
      if (moved)
        for (const hear of this.#listeners)
          for (const hint of ["work", "cancel", "runs", "feed"] as const) hear(hint);
    } catch {
      // The store is unreachable; the poll will find out.
      this.#failures += 1;
      const rest = Math.min(LONGEST_REST_MS, LOOK_EVERY_MS * 2 ** this.#failures);
      this.#restUntil = performance.now() + rest * (0.5 + Math.random() / 2);
    }
  }

  #stopLooking(): void {
    this.#stopLooks?.();
    this.#stopLooks = undefined;
  }
}
