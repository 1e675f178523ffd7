import { describe, expect, test } from "vitest";
import { LockGrant } from "./grant.ts";
import type { Permit } from "./permit.ts";
import { Request } from "./request.ts";

const WISH = { gate: "mutex:default/door", slots: 1, priority: 0, label: "me", holder: "me" };

function caller() {
  const seen: { permit?: Permit; error?: unknown } = {};
  return {
    seen,
    granted: (permit: Permit) => {
      seen.permit = permit;
    },
    refused: (error: unknown) => {
      seen.error = error;
    },
  };
}

function grant() {
  const state = { ends: 0 };
  const made = new LockGrant(
    7,
    () => {
      state.ends += 1;
    },
    Promise.resolve(),
  );
  return { made, state };
}

describe("a request", () => {
  test("that was granted cannot be left, and one that was left cannot be granted", () => {
    const [one, two] = [new Request(WISH, "a"), new Request(WISH, "b")];
    const [first, second] = [caller(), caller()];
    one.join(first);
    two.join(second);
    expect(one.granted(grant().made)).toBe(true);
    expect(one.leave(first)).toBe(false);
    expect(two.leave(second)).toBe(true);
    expect(two.granted(grant().made)).toBe(false);
    expect([first.seen.permit?.fence, second.seen.permit]).toEqual([7, undefined]);
  });

  test("ends with its last permit, and only once", async () => {
    const request = new Request(WISH, "a");
    const [first, second] = [caller(), caller()];
    request.join(first);
    request.join(second);
    const { made, state } = grant();
    request.granted(made);
    const late = caller();
    request.join(late);
    for (const { seen } of [first, second]) await seen.permit?.release();
    await first.seen.permit?.release();
    expect(state.ends).toBe(0);
    await late.seen.permit?.release();
    await late.seen.permit?.release();
    expect([state.ends, request.state]).toEqual([1, "over"]);
  });

  test("is withdrawn when its last caller leaves, not before", () => {
    const request = new Request(WISH, "a");
    const [first, second] = [caller(), caller()];
    request.join(first);
    request.join(second);
    expect([request.leave(first), request.isWanted]).toEqual([false, true]);
    expect([request.leave(first), request.leave(second)]).toEqual([false, true]);
    expect(request.isWanted).toBe(false);
  });

  test("is refused to all its callers, and to none that has its permit", () => {
    const [one, two] = [new Request(WISH, "a"), new Request(WISH, "b")];
    const [first, second] = [caller(), caller()];
    one.join(first);
    two.join(second);
    two.granted(grant().made);
    expect([one.refuse("no"), two.refuse("no")]).toEqual([true, false]);
    expect([first.seen.error, second.seen.error]).toEqual(["no", undefined]);
  });
});
