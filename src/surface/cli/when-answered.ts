/** A worker that runs already does not end because the store is away for a moment: what it wants to say can wait. */
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

/** As a driver says it, or as the store does. */
const isGone = (error: unknown): boolean =>
  isAway(error) || (error as { code?: unknown } | null)?.code === "STORE_UNREACHABLE";
