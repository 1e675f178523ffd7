import { setTimeout as sleep } from "node:timers/promises";

/** Retries, because we may have just crashed or restarted the database ourselves. */
export async function patiently<T>(work: () => Promise<T>, forMs = 30_000): Promise<T> {
  const until = Date.now() + forMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > until || !isPassing(error)) throw error;
      await sleep(50);
    }
  }
}

/** A mistake in our own SQL does not go away by waiting. */
function isPassing(error: unknown): boolean {
  const code = String((error as { code?: unknown }).code ?? "");
  return !/^(42|22|23)/.test(code) && !/^ER_(PARSE|NO_SUCH|BAD_FIELD|DUP)/.test(code);
}
