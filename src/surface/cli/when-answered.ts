/**
 * Retries while the store is away. A worker that is already running should not exit because of that: its
 * output can wait.
 */
import { sleep } from "../../env/timers.ts";
import { isAway } from "../../store/away.ts";

const PAUSE_MS = 250;

export async function whenAnswered<T>(ask: () => Promise<T>, stopping: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (stopping.aborted || !isGone(error)) throw error;
      await sleep(PAUSE_MS, stopping);
    }
  }
}

/** The store is away, as reported by a driver or by the store itself. */
const isGone = (error: unknown): boolean =>
  isAway(error) || (error as { code?: unknown } | null)?.code === "STORE_UNREACHABLE";
