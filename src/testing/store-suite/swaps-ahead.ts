import { expect, test } from "vitest";
import type { AheadClaim, Claimed, Swap } from "../../store/store.ts";
import type { Fresh } from "./bench.ts";
import { MAIL } from "./bench.ts";
import type { SwapBench } from "./swaps.ts";
import { busy, CHANGES, done, swapOf } from "./swaps.ts";

const laneOfEach = (claims: readonly Claimed[]): AheadClaim[] =>
  claims.map(({ id, epoch, lane }) => ({ id, epoch, lane }));

/** "a" and "b" run, and "c" to "e" are claimed ahead. The swap would start the first two of these. */
async function ready(
  fresh: Fresh<"swaps" | "steering">,
  claimLeaseMs = 60_000,
): Promise<{ bench: SwapBench; swap: Swap; ahead: readonly AheadClaim[] }> {
  const { bench, claims } = await busy(fresh);
  const ahead = laneOfEach(await bench.claim(["c", "d", "e"], { held: false, claimLeaseMs }));
  const swap = await swapOf(bench, done(claims), [[MAIL, {}]]);
  return { bench, swap: { ...swap, lanes: [], ahead: ahead.slice(0, 2) }, ahead };
}

/** Claims that were made ahead of their slots take the slots of finished ones. */
export function swapAheadSuite(fresh: Fresh<"swaps" | "steering">): void {
  test("replaces finished units by claims made ahead, as if a pass had started them", async () => {
    const { bench, swap } = await ready(fresh);
    const swapped = await bench.store.swap(swap);
    expect(swapped).toMatchObject({ now: bench.clock.now(), claimed: [], accepted: new Set(["a", "b"]) });
    expect([...(swapped?.started ?? [])].sort()).toEqual(["c", "d"]);
    expect(await bench.history("c")).toEqual(["1 TaskEnqueued", "2 TaskClaimed", "3 TaskStarted"]);
    expect(await Promise.all(["c", "e", "f"].map((id) => bench.state(id)))).toEqual([
      "running",
      "claimed",
      "waiting",
    ]);
    expect(await bench.heldAt("pool:smtp")).toBe(2);
    const held = (await bench.store.claimsOf("s1")).filter((claim) => claim.held).map(({ id }) => id);
    expect(held).toEqual(["c", "d"]);
    expect((await bench.store.swap(swap))?.started ?? []).toEqual([]);
  });

  test("starts no claim made ahead that has lapsed", async () => {
    const { bench, swap } = await ready(fresh, 20);
    bench.clock.advance(20);
    expect((await bench.store.swap(swap))?.started).toEqual([]);
    expect([await bench.state("a"), await bench.heldAt("pool:smtp")]).toEqual(["succeeded", 0]);
  });

  test("starts no claim made ahead that has expired", async () => {
    const { bench, swap } = await ready(fresh);
    bench.clock.advance(45);
    expect((await bench.store.swap(swap))?.started).toEqual(["c"]);
  });

  for (const [what, change] of Object.entries(CHANGES)) {
    test(`records reports, but starts no claim made ahead: ${what}`, async () => {
      const { bench, swap } = await ready(fresh);
      await change(bench, swap);
      const swapped = await bench.store.swap(swap);
      expect(swapped?.started).toEqual([]);
      expect([...(swapped?.accepted ?? [])].sort()).toEqual(what.includes("too late") ? ["b"] : ["a", "b"]);
      expect((await bench.store.claimsOf("s1")).filter((claim) => claim.held)).toEqual([]);
    });
  }
}
