/**
 * Asking again while the API is away: with pauses that grow and are spread, for as long as it takes. An absent API
 * is no sign of how a pod fares, so nothing here ever becomes a failure by itself.
 */
import { sleep } from "../../env/timers.ts";
import { ApiAway } from "./request.ts";

export interface Pacing {
  readonly firstMs: number;
  readonly mostMs: number;
}

export const PACING: Pacing = { firstMs: 200, mostMs: 15_000 };

/** After so many failures in a row, from 1; `random` is from 0 to 1. */
export function pauseAfter(failures: number, { firstMs, mostMs }: Pacing, random: number): number {
  const longest = Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return longest * (0.5 + random / 2);
}

export interface PodPatience {
  readonly pacing: Pacing;
  readonly signal: AbortSignal;
  /** Told of each time that brought no answer. */
  away(error: ApiAway, failures: number): void;
}

/** The first real answer or refusal; throws the signal's reason once that is aborted. */
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
