/**
 * The timers of this process, for details that no test needs to control. Apart from this room, only `testing`
 * calls Node's timers; `test/rooms.test.ts` enforces that.
 */
import type { AfterOptions, Cancel } from "./env.ts";

/** Node fires a timer longer than this (24 days) at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** Calls back once after this time. More than 24 days counts as 24 days. */
export function after(ms: number, call: () => void, options?: AfterOptions): Cancel {
  const timer = setTimeout(call, Math.min(ms, LONGEST_MS));
  if (!options?.keepsAlive) timer.unref();
  return () => clearTimeout(timer);
}

/** Calls back repeatedly. Never keeps the process alive. */
export function every(ms: number, call: () => void): Cancel {
  const timer = setInterval(call, ms).unref();
  return () => clearInterval(timer);
}

/** Resolves after this time, or as soon as the signal is aborted. The process stays alive until then. */
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

/** Calls back once everything that has already arrived (messages, answers, signals) has been read. */
export function soon(call: () => void): void {
  setImmediate(call);
}

/**
 * Gives everything else a turn: timers, signals, answers from the network. A store in this process answers at
 * once, so a loop over it awaits this between rounds. Otherwise nothing else would ever run.
 */
export const turn = (): Promise<void> => new Promise(soon);

/** Keeps the process alive until it is cancelled. */
export function stayAlive(): Cancel {
  const timer = setInterval(() => {}, LONGEST_MS);
  return () => clearInterval(timer);
}
