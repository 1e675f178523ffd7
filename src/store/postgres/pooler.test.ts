import type pg from "pg";
import { describe, expect, test } from "vitest";
import { findPooler } from "./pooler.ts";
import { SETTINGS } from "./settings.ts";

/** A pool whose server reports process 7, while the connection was told `told`. */
function poolOf(told: number, plans: string): pg.Pool & { released: unknown[] } {
  const released: unknown[] = [];
  const client = {
    processID: told,
    query: async () => ({ rows: [{ process: 7, plans }] }),
    release: (broken?: boolean) => released.push(broken),
  };
  return { options: { options: "ours" }, connect: async () => client, released } as never;
}

const refusing = (error: Error & { code?: string }): pg.Pool =>
  ({ options: { options: "ours" }, connect: () => Promise.reject(error) }) as never;

describe("a pooler", () => {
  test("is not there where the server tells the process that it is, and has our settings", async () => {
    const pool = poolOf(7, SETTINGS.plan_cache_mode);
    expect(await findPooler(pool)).toBe(false);
    expect(pool.released).toEqual([undefined]);
  });

  test("is there where somebody else told a number, even with the settings that we want", async () => {
    expect(await findPooler(poolOf(8, SETTINGS.plan_cache_mode))).toBe(true);
  });

  test("is there where our settings were dropped on the way", async () => {
    expect(await findPooler(poolOf(7, "auto"))).toBe(true);
  });

  test("is there where whoever comes with settings is turned away; we come without them from then on", async () => {
    const pool = refusing(
      Object.assign(new Error("unsupported startup parameter: options"), { code: "08P01" }),
    );
    expect(await findPooler(pool)).toBe(true);
    expect(pool.options).toEqual({});
  });

  test("is not guessed at while the server cannot be reached", async () => {
    const away = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    await expect(findPooler(refusing(away))).rejects.toBe(away);
  });
});
