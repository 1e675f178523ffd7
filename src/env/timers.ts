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
      letGo();
      resolve();
    };
    const cancel = after(ms, end, { keepsAlive: true });
    const letGo = signal && !signal.aborted ? onAbort(signal, end) : () => {};
    if (signal?.aborted) end();
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

const aborts = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back once when the signal is aborted. However many callers share a signal, it has one listener: Node warns
 * of a leak from the eleventh on.
 */
export function onAbort(signal: AbortSignal, call: () => void): Cancel {
  const known = aborts.get(signal);
  const calls = known ?? new Set();
  // Each caller has an entry of its own, even with the same function.
  const entry = (): void => call();
  calls.add(entry);
  if (!known) {
    aborts.set(signal, calls);
    signal.addEventListener("abort", () => callAll(signal, calls), { once: true });
  }
  return () => {
    calls.delete(entry);
  };
}

function callAll(signal: AbortSignal, calls: ReadonlySet<() => void>): void {
  aborts.delete(signal);
  for (const call of [...calls]) call();
}
