/** What a caller may say when it enqueues a task. */
import type { Duration } from "../time.ts";

export interface EnqueueOptions {
  readonly queue?: string;
  readonly priority?: number;
  /** Start after this long (`delay`), or not before this instant (`runAt`). */
  readonly delay?: Duration;
  readonly runAt?: Date;
  /** The latest instant to start, or how long from now it is worth starting. */
  readonly goodUntil?: Date | Duration;
  /** A second enqueue of the same task with the same key returns the first task. */
  readonly idempotencyKey?: string;
}
