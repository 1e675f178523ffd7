/**
 * Decides what happens after an attempt ended badly: the code failed (`nextAttempt`), or its holder was lost
 * (`afterLoss`). An attempt is counted when the unit is claimed, so a unit that kills its worker runs out of
 * attempts like any other. A unit that waits for a retry holds nothing.
 */
import type { Duration } from "../time.ts";
import { parseDuration } from "../time.ts";
import type { NextDue } from "./steering.ts";

/** As users write it. */
export interface RetryOptions {
  /** How many attempts there are in total, including the first. */
  readonly attempts?: number;
  readonly backoff?: Backoff;
  readonly delay?: Duration;
  /** The upper bound of exponential delays. */
  readonly maxDelay?: Duration;
  /**
   * 0.25 spreads a delay over 75 % to 125 % of itself, so that units that failed together are not retried
   * together.
   */
  readonly jitter?: number;
  /**
   * Asked about an error that the code has thrown, where the code runs. If it answers false, the task fails
   * at once. It is not asked about a timeout or a lost process.
   */
  readonly when?: (error: unknown) => boolean | Promise<boolean>;
}

/** A step may replace the policy of its task, but not its code. */
export type RetryOverrides = Omit<RetryOptions, "when">;

type Backoff = "fixed" | "exponential";

export interface RetryPolicy {
  readonly attempts: number;
  readonly backoff: Backoff;
  readonly delayMs: number;
  readonly maxDelayMs: number;
  readonly jitter: number;
}

export const RETRY_DEFAULTS = {
  attempts: 3,
  backoff: "exponential",
  delay: "1s",
  maxDelay: "5m",
  jitter: 0.25,
} as const satisfies Required<RetryOverrides>;

/**
 * A unit that lost its holder this often is not retried automatically, because it may be what kills its
 * workers.
 */
const LOSSES_TO_QUARANTINE = 3;

/** Without options nothing is retried. With any option, the others have their defaults. */
export function retryPolicy(options: RetryOverrides | undefined): RetryPolicy {
  const delayMs = parseDuration(options?.delay ?? RETRY_DEFAULTS.delay);
  return {
    attempts: options ? (options.attempts ?? RETRY_DEFAULTS.attempts) : 1,
    backoff: options?.backoff ?? RETRY_DEFAULTS.backoff,
    delayMs,
    maxDelayMs: options?.maxDelay
      ? parseDuration(options.maxDelay)
      : Math.max(delayMs, parseDuration(RETRY_DEFAULTS.maxDelay)),
    jitter: options?.jitter ?? RETRY_DEFAULTS.jitter,
  };
}

interface Failure {
  readonly policy: RetryPolicy;
  /** The attempt that ended, 1 for the first. */
  readonly attempt: number;
  readonly now: number;
  readonly goodUntil?: number | null | undefined;
  /** From [0, 1). */
  readonly random: number;
  /** When the next attempt is due, if the policy does not decide that. */
  readonly due?: NextDue | undefined;
}

type NextAttempt =
  | { readonly retry: true; readonly at: number }
  | { readonly retry: false; readonly because: "attempts" | "deadline" };

/** A retry that would be due at or after `goodUntil` is not scheduled. */
export function nextAttempt({ policy, attempt, now, goodUntil, random, due }: Failure): NextAttempt {
  if (attempt >= policy.attempts) return { retry: false, because: "attempts" };
  const at = due ? instantOf(due, now) : now + delayBefore(attempt + 1, policy, random);
  return isOver(goodUntil, at) ? { retry: false, because: "deadline" } : { retry: true, at };
}

interface Loss extends Failure {
  /** How often this unit lost its holder, including this time. */
  readonly losses: number;
  /** False if it was claimed but its code never ran. Then neither the attempt nor the loss counts. */
  readonly started?: boolean;
}

type AfterLoss =
  | { readonly to: "retry"; readonly at: number }
  | { readonly to: "waiting" | "quarantined" | "failed" | "expired" };

/** A lost holder does not mean that the outside world needs rest, so the next attempt is due at once. */
export function afterLoss({ policy, attempt, losses, started = true, now, goodUntil }: Loss): AfterLoss {
  if (!started) return { to: isOver(goodUntil, now) ? "expired" : "waiting" };
  if (losses >= LOSSES_TO_QUARANTINE) return { to: "quarantined" };
  if (attempt >= policy.attempts) return { to: "failed" };
  return isOver(goodUntil, now) ? { to: "expired" } : { to: "retry", at: now };
}

const instantOf = (due: NextDue, now: number): number =>
  "at" in due ? Math.max(now, due.at) : now + due.inMs;

function delayBefore(attempt: number, policy: RetryPolicy, random: number): number {
  const spread = 1 + policy.jitter * (2 * random - 1);
  if (policy.backoff === "fixed") return Math.round(policy.delayMs * spread);
  // Beyond 2^50 every delay has reached its maximum, and 0 × ∞ is not a number.
  const doubled = policy.delayMs * 2 ** Math.min(attempt - 2, 50);
  return Math.min(policy.maxDelayMs, Math.round(Math.min(doubled, policy.maxDelayMs) * spread));
}

function isOver(goodUntil: number | null | undefined, at: number): boolean {
  return typeof goodUntil === "number" && at >= goodUntil;
}
