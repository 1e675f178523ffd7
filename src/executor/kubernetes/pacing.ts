/**
 * Retries while the API is away: with growing, randomized pauses, for as long as it takes. An absent API says
 * nothing about a pod, so it never becomes a failure by itself.
 */
import { sleep } from "../../env/timers.ts";
import { ApiAway } from "./request.ts";

export interface Pacing {
  readonly firstMs: number;
  readonly mostMs: number;
}

export const PACING: Pacing = { firstMs: 200, mostMs: 15_000 };

/** The pause after this many failures in a row (at least 1). `random` is between 0 and 1. */
export function pauseAfter(failures: number, { firstMs, mostMs }: Pacing, random: number): number {
  const longest = Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return longest * (0.5 + random / 2);
}

export interface PodPatience {
  readonly pacing: Pacing;
  readonly signal: AbortSignal;
  /** Called each time the API did not answer. */
  away(error: ApiAway, failures: number): void;
}

/** Returns or throws the first real answer or refusal. Throws the signal's reason once it is aborted. */
export async function persist<T>(act: () => Promise<T>, { pacing, signal, away }: PodPatience): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    signal.throwIfAborted();
    try {
      return await act();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ApiAway)) throw error;
      away(error, failures);
    }
    await sleep(pauseAfter(failures, pacing, Math.random()), signal);
  }
}
