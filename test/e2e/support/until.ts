// Waits for something that can only be polled.

import { setTimeout as sleep } from "node:timers/promises";

/**
 * Polls until there is an answer, and fails with what it waited for. The timeout is no promise of the
 * product: it only ends a test whose answer never comes, and is long enough for a busy machine.
 */
export async function until<T>(
  look: () => Promise<T | undefined | false> | T | undefined | false,
  what: string,
  withinMs = 40_000,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (Date.now() > deadline) throw new Error(`did not happen within ${withinMs}ms: ${what}`);
    await sleep(5);
  }
}
