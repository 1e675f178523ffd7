import { describe, expect, test } from "vitest";
import { FakeEnv } from "../../testing/fake-env.ts";
import type { Claims } from "../claiming/claims.ts";
import { SessionKeeper } from "./session-keeper.ts";

type Answer = boolean | "error" | "silence";

interface Kept {
  readonly env: FakeEnv;
  readonly keeper: SessionKeeper;
  /** When renewals were sent, counted from the opening. */
  readonly renewals: number[];
  readonly seen: string[];
  /** What the store answers from now on. */
  answer: Answer;
  readonly trusted: number[];
  /** How long the store takes for the next openings. */
  readonly openings: number[];
  /** Answers the oldest unanswered renewal. */
  reply(alive: boolean): void;
}

/** A lease of 30 s with a heartbeat of 10 s, so it is trusted for 25 s. */
async function kept(): Promise<Kept> {
  const env = new FakeEnv();
  const begin = env.monotonic();
  const unanswered: ((alive: boolean) => void)[] = [];
  const it = {
    answer: true as Answer,
    renewals: [] as number[],
    seen: [] as string[],
    trusted: [] as number[],
    openings: [] as number[],
  };
  const claims = {
    open: async (session: string, leaseMs: number) => {
      it.seen.push(`open ${session} ${leaseMs}`);
      await env.advance(it.openings.shift() ?? 0);
    },
    renew: async () => {
      it.renewals.push(env.monotonic() - begin);
      if (it.answer === "error") throw new Error("the store is away");
      if (it.answer === "silence") return new Promise<boolean>((resolve) => unanswered.push(resolve));
      return it.answer;
    },
  } as unknown as Claims;
  const keeper = new SessionKeeper(
    claims,
    env,
    { leaseMs: 30_000, heartbeatMs: 10_000 },
    {
      happened: (happening) => {
        if (typeof happening === "string") it.seen.push(happening);
      },
    },
    (until) => it.trusted.push(until),
  );
  await keeper.open();
  it.seen.length = 0;
  return Object.assign(it, { env, keeper, reply: (alive: boolean) => unanswered.shift()?.(alive) });
}

describe("a session", () => {
  test("is opened under a new id each time, for as long as its lease says", async () => {
    const { keeper, seen } = await kept();
    expect(await keeper.open()).toBe("id0002");
    expect(seen).toEqual(["open id0002 30000"]);
  });

  test("that took long to open is renewed as much sooner", async () => {
    const { env, keeper, renewals, openings } = await kept();
    openings.push(9_000);
    await keeper.open();
    await env.advance(1_000);
    expect(renewals).toEqual([10_000]);
  });

  test("whose lease was used up before it was open is left alone, and another is opened", async () => {
    const { keeper, seen, openings } = await kept();
    keeper.forget();
    openings.push(25_000);
    expect(await keeper.open()).toBe("id0003");
    expect(seen).toEqual(["open id0002 30000", "open id0003 30000"]);
    expect(keeper.isTrusted()).toBe(true);
  });

  test("is renewed with every heartbeat, and its watcher is told", async () => {
    const { env, keeper, renewals, seen } = await kept();
    await env.advance(45_000);
    expect(renewals).toEqual([10_000, 20_000, 30_000, 40_000]);
    expect(seen).toEqual(["sessionRenewed", "sessionRenewed", "sessionRenewed", "sessionRenewed"]);
    expect(keeper.isTrusted()).toBe(true);
  });

  test("ends when the store says so, and is renewed no more", async () => {
    const it = await kept();
    it.answer = false;
    await it.env.advance(60_000);
    expect(it.renewals).toEqual([10_000]);
    expect(it.seen).toEqual(["sessionLost"]);
    expect(it.keeper.isTrusted()).toBe(false);
  });

  test("is tried again and again on errors, faster than the heartbeat, until its trusted time is over", async () => {
    const it = await kept();
    it.answer = "error";
    await it.env.advance(24_999);
    expect(it.renewals.slice(0, 3)).toEqual([10_000, 12_500, 15_000]);
    expect(it.seen).toEqual([]);
    expect(it.keeper.isTrusted()).toBe(true);
    await it.env.advance(2);
    expect(it.seen).toEqual(["sessionLost"]);
    expect(it.keeper.isTrusted()).toBe(false);
  });

  test("goes on when the store comes back in time", async () => {
    const it = await kept();
    it.answer = "error";
    await it.env.advance(20_000);
    it.answer = true;
    await it.env.advance(3_000);
    expect(it.seen).toEqual(["sessionRenewed"]);
    it.answer = "error";
    await it.env.advance(20_000);
    expect(it.keeper.isTrusted()).toBe(true);
  });

  test("ends by its own clock when the store does not answer at all", async () => {
    const it = await kept();
    it.answer = "silence";
    await it.env.advance(25_002);
    expect(it.seen).toEqual(["sessionLost"]);
    it.reply(true);
    await it.env.settle();
    expect(it.seen).toEqual(["sessionLost"]);
    expect(it.keeper.isTrusted()).toBe(false);
  });

  test("is trusted from when a renewal was sent, not from when its answer came", async () => {
    const it = await kept();
    it.answer = "silence";
    await it.env.advance(24_000);
    it.reply(true);
    await it.env.settle();
    expect(it.seen).toEqual(["sessionRenewed"]);
    // Sent at 10 s, so trusted until 35 s.
    it.answer = "error";
    await it.env.advance(10_999);
    expect(it.keeper.isTrusted()).toBe(true);
    await it.env.advance(2);
    expect(it.keeper.isTrusted()).toBe(false);
  });

  test("is not trusted after a sleep that was too long, even before any timer has fired", async () => {
    const { env, keeper } = await kept();
    env.freeze(24_999);
    expect(keeper.isTrusted()).toBe(true);
    env.freeze(1);
    expect(keeper.isTrusted()).toBe(false);
  });

  test("that was opened anew is not ended by what the store says of the one before", async () => {
    const it = await kept();
    it.answer = "silence";
    await it.env.advance(10_000);
    it.keeper.forget();
    await it.keeper.open();
    it.seen.length = 0;
    it.reply(false);
    await it.env.settle();
    expect(it.seen).toEqual([]);
    expect(it.keeper.isTrusted()).toBe(true);
    it.answer = true;
    await it.env.advance(10_000);
    expect(it.seen).toEqual(["sessionRenewed"]);
  });

  test("is renewed no more once it is stopped, and nobody is told that it ended", async () => {
    const { env, keeper, renewals, seen } = await kept();
    keeper.forget();
    await env.advance(60_000);
    expect([renewals, seen, env.planned]).toEqual([[], [], []]);
    expect(keeper.isTrusted()).toBe(false);
  });

  test("says until when it may be trusted, counted from when the renewal was sent", async () => {
    const it = await kept();
    const begun = it.env.monotonic();
    expect(it.trusted).toEqual([begun + 25_000]);
    it.answer = "silence";
    await it.env.advance(10_000);
    await it.env.advance(500);
    it.reply(true);
    await it.env.settle();
    expect(it.trusted).toEqual([begun + 25_000, begun + 35_000]);
  });
});
