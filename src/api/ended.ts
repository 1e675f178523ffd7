/**
 * Waiting for tasks and runs to end, by looking: whoever waits need not be where the work is done. All who wait in one
 * process look together, with one question for all of them, so that a thousand of them cost what one does.
 */
import type { Cancel } from "../env/env.ts";
import { after } from "../env/timers.ts";
import { isFinal } from "../store/final.ts";
import type { Store, TaskRow } from "../store/store.ts";

const FIRST_MS = 10;
const MOST_MS = 1_000;
const AT_ONCE = 1_000;

interface Waiting {
  readonly id: string;
  pauseMs: number;
  dueAt: number;
  readonly ended: () => void;
  readonly failed: (error: unknown) => void;
}

const watches = new WeakMap<Store, Watch>();

/** The unit once it has ended; undefined when there is none. Looks ever less often, once a second at the least. */
export async function untilEnded(
  store: Store,
  id: string,
  signal?: AbortSignal,
): Promise<TaskRow | undefined> {
  for (;;) {
    signal?.throwIfAborted();
    const row = await store.task(id);
    if (!row || isFinal(row.state)) return row;
    const watch = watches.get(store) ?? new Watch(store);
    watches.set(store, watch);
    await watch.until(id, signal);
  }
}

class Watch {
  readonly #store: Store;
  readonly #waiting = new Set<Waiting>();
  #cancel: Cancel | undefined;
  #looking = false;

  constructor(store: Store) {
    this.#store = store;
  }

  until(id: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(waiting);
        signal?.removeEventListener("abort", aborted);
      };
      const failed = (error: unknown): void => {
        leave();
        reject(error);
      };
      const aborted = (): void => failed(signal?.reason);
      const ended = (): void => {
        leave();
        resolve();
      };
      const waiting = { id, pauseMs: FIRST_MS, dueAt: performance.now() + FIRST_MS, ended, failed };
      signal?.addEventListener("abort", aborted, { once: true });
      this.#waiting.add(waiting);
      this.#lookSoon();
    });
  }

  /** Whoever comes due within a moment is looked at with the others. */
  #lookSoon(): void {
    if (this.#looking || this.#waiting.size === 0) return;
    let first = Number.POSITIVE_INFINITY;
    for (const { dueAt } of this.#waiting) first = Math.min(first, dueAt);
    this.#cancel?.();
    const ms = Math.max(FIRST_MS, first - performance.now());
    this.#cancel = after(ms, () => void this.#look(), { keepsAlive: true });
  }

  async #look(): Promise<void> {
    this.#looking = true;
    const due = [...this.#waiting]
      .filter(({ dueAt }) => dueAt <= performance.now() + FIRST_MS)
      .slice(0, AT_ONCE);
    try {
      const ended = new Set(await this.#store.ended(due.map(({ id }) => id)));
      for (const each of due) {
        if (ended.has(each.id)) each.ended();
        each.pauseMs = Math.min(MOST_MS, each.pauseMs * 1.5);
        each.dueAt = performance.now() + each.pauseMs;
      }
    } catch (error) {
      for (const each of due) each.failed(error);
    } finally {
      this.#looking = false;
      this.#lookSoon();
    }
  }
}
