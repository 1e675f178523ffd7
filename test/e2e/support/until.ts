// Waiting for something that only looking can tell.

import { setTimeout as sleep } from "node:timers/promises";

/** Looks again until there is an answer; fails with what it waited for, and what it saw last. */
export async function until<T>(
  look: () => Promise<T | undefined | false> | T | undefined | false,
  what: string,
  withinMs = 15_000,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (Date.now() > deadline) throw new Error(`did not happen within ${withinMs}ms: ${what}`);
    await sleep(5);
  }
}
