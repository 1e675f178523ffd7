/**
 * How long a place stays empty after its child died. A child that did some work is replaced at once. An app
 * whose children keep dying right after their start must not keep the machine busy with starting them.
 */
import type { Death } from "./death.ts";

const FIRST_MS = 100;
const MOST_MS = 5_000;
const YOUNG_MS = 1_000;

/**
 * True if it died before it was of use: it never became ready, or it lived for a moment and no job ended in
 * it.
 */
export function diedYoung({ readyMs, jobsEnded }: Death): boolean {
  return readyMs === undefined || (readyMs < YOUNG_MS && jobsEnded === 0);
}

/**
 * The pause after `young` children in a row died young. The first may be bad luck. `random` is between 0 and
 * 1.
 */
export function pauseAfter(young: number, random: number): number {
  if (young <= 1) return 0;
  const longest = Math.min(MOST_MS, FIRST_MS * 2 ** (young - 2));
  return longest * (0.5 + random / 2);
}
