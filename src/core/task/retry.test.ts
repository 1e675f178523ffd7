import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RetryOptions } from "./retry.ts";
import { afterLoss, nextAttempt, retryPolicy } from "./retry.ts";

const NOW = 1_000_000;
const failed = (options: RetryOptions, attempt: number, more: { goodUntil?: number; random?: number } = {}) =>
  nextAttempt({ policy: retryPolicy(options), attempt, now: NOW, random: 0.5, ...more });

describe("a retry policy", () => {
  it("is one attempt when nothing is said", () => {
    expect(retryPolicy(undefined).attempts).toBe(1);
  });

  it("fills in three attempts, exponential from 1s to 5m, ±25 %", () => {
    expect(retryPolicy({})).toEqual({
      attempts: 3,
      backoff: "exponential",
      delayMs: 1000,
      maxDelayMs: 300_000,
      jitter: 0.25,
    });
  });

  it("never cuts a delay that was asked for by a maximum that was not", () => {
    expect(retryPolicy({ delay: "1h" }).maxDelayMs).toBe(3_600_000);
  });

  it("refuses a bare number as a delay", () => {
    expect(() => retryPolicy({ delay: "30" })).toThrow(expect.objectContaining({ code: "BAD_DURATION" }));
  });
});

describe("a failed attempt", () => {
  it("is tried again until the attempts are used up", () => {
    expect(failed({ attempts: 2 }, 1)).toEqual({ retry: true, at: NOW + 1000 });
    expect(failed({ attempts: 2 }, 2)).toEqual({ retry: false, because: "attempts" });
  });

  it("waits twice as long each time, up to the maximum", () => {
    const delays = [1, 2, 3, 4, 5].map((attempt) => {
      const next = failed({ attempts: 9, maxDelay: "5s" }, attempt);
      return next.retry && next.at - NOW;
    });
    expect(delays).toEqual([1000, 2000, 4000, 5000, 5000]);
  });

  it("is not moved beyond the maximum by the jitter either", () => {
    expect(failed({ attempts: 9, maxDelay: "5s" }, 5, { random: 0.99 })).toEqual({
      retry: true,
      at: NOW + 5000,
    });
  });

  it("is due at once if its code has not failed, and is bound by the attempts and the deadline all the same", () => {
    const ended = (attempt: number, goodUntil?: number) =>
      nextAttempt({ policy: retryPolicy({}), attempt, now: NOW, random: 0.5, goodUntil, due: { inMs: 0 } });
    expect(ended(2)).toEqual({ retry: true, at: NOW });
    expect(ended(3)).toEqual({ retry: false, because: "attempts" });
    expect(ended(1, NOW)).toEqual({ retry: false, because: "deadline" });
  });

  it("is due when its code says, and never in the past", () => {
    const asked = (due: { inMs: number } | { at: number }) =>
      nextAttempt({ policy: retryPolicy({ jitter: 1 }), attempt: 1, now: NOW, random: 0.1, due });
    expect(asked({ inMs: 600_000 })).toEqual({ retry: true, at: NOW + 600_000 });
    expect(asked({ at: NOW + 5 })).toEqual({ retry: true, at: NOW + 5 });
    expect(asked({ at: NOW - 5 })).toEqual({ retry: true, at: NOW });
  });

  it("waits the same each time when the backoff is fixed", () => {
    for (const attempt of [1, 4])
      expect(failed({ attempts: 9, backoff: "fixed", delay: "10m" }, attempt)).toEqual({
        retry: true,
        at: NOW + 600_000,
      });
  });

  it("is not tried again at or after the moment it is good until", () => {
    expect(failed({}, 1, { goodUntil: NOW + 1001 })).toEqual({ retry: true, at: NOW + 1000 });
    expect(failed({}, 1, { goodUntil: NOW + 1000 })).toEqual({ retry: false, because: "deadline" });
  });

  it("is retried within the jitter, never in the past, never beyond the maximum", () => {
    const jitter = fc.double({ min: 0, max: 1, noNaN: true });
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(
        fc.nat(100_000),
        jitter,
        random,
        fc.integer({ min: 1, max: 2000 }),
        (delay, j, r, attempt) => {
          const next = failed({ attempts: 5000, delay: `${delay}ms`, jitter: j }, attempt, { random: r });
          const plain = Math.min(300_000, delay * 2 ** (attempt - 1) || 0);
          expect(next.retry).toBe(true);
          const waited = next.retry ? next.at - NOW : Number.NaN;
          expect(waited).toBeLessThanOrEqual(300_000);
          expect(Math.abs(waited - plain)).toBeLessThanOrEqual(plain * j + 1);
          expect(Number.isInteger(waited)).toBe(true);
        },
      ),
    );
  });

  it("spreads over the whole jitter", () => {
    expect(failed({}, 1, { random: 0 })).toEqual({ retry: true, at: NOW + 750 });
    expect(failed({}, 1, { random: 0.999999 })).toEqual({ retry: true, at: NOW + 1250 });
  });
});

describe("a unit whose holder was lost", () => {
  const lost = (more: Partial<Parameters<typeof afterLoss>[0]> = {}) =>
    afterLoss({ policy: retryPolicy({ attempts: 5 }), attempt: 1, losses: 1, now: NOW, random: 0, ...more });

  it("is due again at once while it has attempts", () => {
    expect(lost()).toEqual({ to: "retry", at: NOW });
  });

  it("has failed when that was its last attempt", () => {
    expect(lost({ attempt: 5 })).toEqual({ to: "failed" });
    expect(lost({ policy: retryPolicy(undefined) })).toEqual({ to: "failed" });
  });

  it("is quarantined the third time, whatever else could be said", () => {
    expect(lost({ losses: 2 })).toEqual({ to: "retry", at: NOW });
    expect(lost({ losses: 3 })).toEqual({ to: "quarantined" });
    expect(lost({ losses: 3, attempt: 5, goodUntil: NOW })).toEqual({ to: "quarantined" });
  });

  it("has expired when its time is over", () => {
    expect(lost({ goodUntil: NOW + 1 })).toEqual({ to: "retry", at: NOW });
    expect(lost({ goodUntil: NOW })).toEqual({ to: "expired" });
  });

  it("goes back to waiting when its code never ran, without an attempt or a loss", () => {
    expect(lost({ started: false, attempt: 5, losses: 3 })).toEqual({ to: "waiting" });
    expect(lost({ started: false, goodUntil: NOW })).toEqual({ to: "expired" });
  });
});
