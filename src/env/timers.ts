/**
 * The timers of this process, for details that no test wants to own. This is the only file that calls Node's timers;
 * `test/rooms.test.ts` holds the others to it.
 */
import type { AfterOptions, Cancel } from "./env.ts";

/** Node rings a timer longer than this at once: 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

/** Calls back once after so long. Longer than 24 days counts as 24 days. */
export function after(ms: number, call: () => void, options?: AfterOptions): Cancel {
  const timer = setTimeout(call, Math.min(ms, LONGEST_MS));
  if (!options?.keepsAlive) timer.unref();
  return () => clearTimeout(timer);
}

/** Calls back again and again. Never keeps the process alive. */
export function every(ms: number, call: () => void): Cancel {
  const timer = setInterval(call, ms).unref();
  return () => clearInterval(timer);
}

/** Resolves after so long, or as soon as the signal is aborted. The process stays alive until then. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const cancel = after(ms, end, { keepsAlive: true });
    if (signal?.aborted) end();
    else signal?.addEventListener("abort", end);
  });
}

/** Calls back once everything that has arrived by now (messages, answers, signals) has been read. */
export function soon(call: () => void): void {
  setImmediate(call);
}

/**
 * Gives everything else a turn: timers, signals, answers from the network. A store in this process answers at once, so
 * a loop over it comes by here between two rounds, or nothing else would ever happen.
 */
export const turn = (): Promise<void> => new Promise(soon);

/** Keeps the process alive until it is cancelled. */
export function stayAlive(): Cancel {
  const timer = setInterval(() => {}, LONGEST_MS);
  return () => clearInterval(timer);
}
