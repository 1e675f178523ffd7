import { describe, expect, test } from "vitest";
import { checkGrants } from "./grants.ts";
import { claim, LANES, limit, release, session, sessionEnd } from "./planted.ts";
import { checkSnapshots } from "./snapshots.ts";

const limits = [limit(0, "cluster", 10), limit(0, "pool:a", 3)];
const alive = session(0, "s", 10_000);
const violations = (...events: Parameters<typeof checkGrants>[0][number][]): readonly string[] =>
  checkGrants([...limits, alive, ...events], LANES).violations;

describe("the grant sweep", () => {
  test("is content while a gate is at most full, and says how often it was", () => {
    const sweep = checkGrants(
      [...limits, alive, claim(1, 1), claim(1, 2), claim(2, 3), release(3, 1), claim(4, 4)],
      LANES,
    );
    expect(sweep.violations).toEqual([]);
    expect(sweep.full.get("pool:a")).toBe(2);
  });

  test("finds one grant too many", () => {
    expect(violations(claim(1, 1), claim(1, 2), claim(1, 3), claim(2, 4))).toEqual([
      "pool:a 4/3 after the grant of epoch 4 (t4)",
    ]);
  });

  test("counts slots, not claims", () => {
    expect(violations(claim(1, 1, { lane: "three" }), claim(2, 2))).toHaveLength(1);
  });

  test("finds a grant at a limit that was lowered before, but lets those drain that were there", () => {
    const lowered = [claim(1, 1), claim(1, 2), limit(2, "pool:a", 1)];
    expect(violations(...lowered)).toEqual([]);
    expect(violations(...lowered, release(3, 1), claim(4, 3))).toEqual([
      "pool:a 2/1 after the grant of epoch 3 (t3)",
    ]);
    expect(violations(...lowered, release(3, 1), release(3, 2), claim(4, 3))).toEqual([]);
  });

  test("finds a grant at a paused gate and at one without a limit", () => {
    expect(violations(limit(1, "pool:a", 3, true), claim(2, 1))).toHaveLength(1);
    expect(violations(limit(1, "pool:a", null), claim(2, 1))).toHaveLength(1);
  });

  test("counts no claim of a session that has ended, by its lease or by its own word", () => {
    const three = [1, 2, 3].map((epoch) => claim(1, epoch, { session: "old" }));
    expect(violations(session(0, "old", 5), ...three, claim(6, 4))).toEqual([]);
    expect(violations(session(0, "old", 50), ...three, sessionEnd(2, "old"), claim(6, 4))).toEqual([]);
    expect(violations(session(0, "old", 50), ...three, claim(6, 4))).toHaveLength(1);
  });

  test("counts claims again whose session was renewed after it had ended", () => {
    const three = [1, 2, 3].map((epoch) => claim(1, epoch, { session: "old" }));
    expect(violations(session(0, "old", 5), ...three, session(7, "old", 50), claim(8, 4))).toHaveLength(1);
  });

  test("counts no claim that was only taken ahead, until it gets its slots", () => {
    const ahead = claim(2, 4, { held: false });
    const started = { ...claim(3, 4), kind: "change" } as ReturnType<typeof claim>;
    expect(violations(claim(1, 1), claim(1, 2), claim(1, 3), ahead)).toEqual([]);
    expect(violations(claim(1, 1), claim(1, 2), claim(1, 3), ahead, started)).toHaveLength(1);
  });
});

describe("the snapshots", () => {
  const sweep = checkGrants([...limits, alive, claim(1, 1), claim(1, 2), limit(2, "pool:a", 1)], LANES);
  const look = (...epochs: number[]) =>
    checkSnapshots([{ at: 9, claims: epochs.map((epoch) => ({ epoch, lane: "one" })) }], sweep, LANES)
      .violations;

  test("are content with what drains", () => {
    expect(look(1, 2)).toEqual([]);
  });

  test("find more than the newest of them was granted under", () => {
    expect(look(1, 2, 2, 2)).toEqual(["at 9 pool:a 4/3 in one snapshot"]);
  });

  test("find a claim that the audit has not seen", () => {
    expect(look(1, 99)).toHaveLength(2);
  });
});
