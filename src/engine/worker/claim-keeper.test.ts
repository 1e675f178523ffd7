import { describe, expect, test } from "vitest";
import { FakeEnv } from "../../testing/fake-env.ts";
import type { Claims } from "../claiming/claims.ts";
import { ClaimKeeper } from "./claim-keeper.ts";
import type { Leased } from "./holdings.ts";
import type { Running } from "./running.ts";

/** Claims "a" with a lease of 9 s and "b" with one of 30 s, and a store that answers as the test says. */
function kept() {
  const env = new FakeEnv();
  const begin = env.monotonic();
  const it = {
    held: [leased("a", 1, 9_000), leased("b", 2, 30_000)],
    renewed: undefined as readonly number[] | undefined,
    away: false,
    renewals: [] as number[],
    lost: [] as string[],
  };
  const claims = {
    renewClaims: async () => {
      it.renewals.push(env.monotonic() - begin);
      if (it.away) throw new Error("the store is away");
      return it.renewed ?? it.held.map(({ epoch }) => epoch);
    },
  } as unknown as Claims;
  const running = {
    get leased() {
      return it.held;
    },
    lose: ({ id, epoch }: Leased, { code }: { code: string }) => {
      it.lost.push(`${id} ${code} after ${env.monotonic() - begin}`);
      it.held = it.held.filter((each) => each.epoch !== epoch);
    },
  } as unknown as Pick<Running, "leased" | "lose">;
  const keeper = new ClaimKeeper(claims, running, env);
  keeper.look();
  return Object.assign(it, { env, keeper });
}

const leased = (id: string, epoch: number, leaseMs: number): Leased =>
  ({ id, epoch, leaseMs }) as unknown as Leased;

describe("claims with a lease of their own", () => {
  test("are renewed each third of the shortest, for as long as there are any", async () => {
    const it = kept();
    await it.env.advance(9_000);
    expect(it.renewals).toEqual([3_000, 6_000, 9_000]);
    it.held = [];
    it.keeper.look();
    await it.env.advance(60_000);
    expect([it.renewals.length, it.lost]).toEqual([3, []]);
  });

  test("that the store does not renew are lost, and the others are kept", async () => {
    const it = kept();
    it.renewed = [2];
    await it.env.advance(3_000);
    expect(it.lost).toEqual(["a LEASE_LOST after 3000"]);
    await it.env.advance(10_000);
    expect([it.renewals, it.lost.length]).toEqual([[3_000, 13_000], 1]);
  });

  test("are tried again soon while the store is away, and nothing is lost if it is back in time", async () => {
    const it = kept();
    it.away = true;
    await it.env.advance(4_500);
    expect(it.renewals).toEqual([3_000, 3_750, 4_500]);
    it.away = false;
    await it.env.advance(3_000);
    expect([it.renewals.slice(3, 4), it.lost]).toEqual([[5_250], []]);
  });

  test("are lost by our own clock when the store stays away, each with its own lease", async () => {
    const it = kept();
    it.away = true;
    await it.env.advance(40_000);
    expect(it.lost.map((each) => each.split(" ").slice(0, 2).join(" "))).toEqual([
      "a LEASE_LOST",
      "b LEASE_LOST",
    ]);
    expect(it.lost[0]).toBe("a LEASE_LOST after 9000");
  });
});
