import { describe, expect, test } from "vitest";
import { claim, RETRIED } from "../../../test/support/worker-world.ts";
import type { Failed } from "../../executor/executor.ts";
import type { Claimed } from "../claiming/claims.ts";
import { verdict } from "./verdict.ts";

const error = { name: "SluiceError", code: "PROCESS_ENDED", message: "Its process was ended." };
const ofBystander: Failed = { ok: false, bystander: true, retryable: true, error };
const judge = (ending: Failed, more: Partial<Claimed> = {}) =>
  verdict(claim("a", 7, { options: RETRIED, ...more }), ending, {
    now: 1_000,
    random: 0.5,
    isStopped: false,
  });

const error429: Failed["error"] = { name: "RetryAfter", message: "busy" };

describe("an attempt whose code says when to try again", () => {
  const asked = (next: Failed["next"], more: Partial<Claimed> = {}) =>
    judge({ ok: false, retryable: true, error: error429, ...(next ? { next } : {}) }, more);

  test("is tried again then, without jitter, and not after the delay of its policy", () => {
    expect(asked({ inMs: 300_000 })).toMatchObject({ to: "retry", delayMs: 300_000 });
    expect(asked({ at: 61_000 })).toMatchObject({ to: "retry", delayMs: 60_000 });
    expect(asked({ at: 500 })).toMatchObject({ to: "retry", delayMs: 0 });
  });

  test("has no more attempts for it, and does not outlive its deadline", () => {
    expect(asked({ inMs: 5 }, { attempt: 3 })).toMatchObject({ to: "failed" });
    expect(asked({ inMs: 5 }, { goodUntil: 1_005 })).toMatchObject({ to: "failed" });
    expect(asked({ inMs: 4 }, { goodUntil: 1_005 })).toMatchObject({ to: "retry" });
  });
});

describe("an attempt whose process the worker ended because of other code", () => {
  test("is followed by the next one at once, and is no loss", () => {
    const next = judge(ofBystander);
    expect(next).toEqual({ id: "a", epoch: 7, to: "retry", body: JSON.stringify(error), delayMs: 0 });
    expect(next).not.toHaveProperty("revoked");
  });

  test("is not what quarantines a task that was lost twice before", () => {
    expect(judge(ofBystander, { losses: 2, attempt: 2 })).toMatchObject({ to: "retry" });
    const died: Failed = { ok: false, crashed: true, retryable: true, error };
    expect(judge(died, { losses: 2, attempt: 2 })).toMatchObject({ to: "quarantined" });
  });

  test("is the end with its own error if no attempt is left", () => {
    const failed = { to: "failed", body: JSON.stringify(error) };
    expect(judge(ofBystander, { attempt: 3 })).toMatchObject(failed);
    expect(judge(ofBystander, { options: "{}" })).toMatchObject(failed);
    expect(judge(ofBystander, { goodUntil: 1_000 })).toMatchObject(failed);
  });
});
