import type { Pool } from "mysql2/promise";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Hints } from "./hints.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A store that is unreachable until the test says otherwise. */
function store() {
  const it = { looks: 0, away: true, n: 1 };
  const query = async (): Promise<unknown> => {
    it.looks += 1;
    if (it.away) throw new Error("connect ECONNREFUSED");
    return [[{ n: it.n }]];
  };
  return Object.assign(it, { pool: { query } as unknown as Pool });
}

test("a store that is away is asked less and less often", async () => {
  const it = store();
  new Hints(it.pool).listen(() => {});
  await vi.advanceTimersByTimeAsync(60_000);
  expect(it.looks).toBeLessThan(80);
});

test("when it is back, it is looked at every few milliseconds again, and what was said is heard", async () => {
  const it = store();
  const heard: string[] = [];
  new Hints(it.pool).listen((hint) => heard.push(hint));
  await vi.advanceTimersByTimeAsync(10_000);
  it.away = false;
  await vi.advanceTimersByTimeAsync(2_100);
  it.looks = 0;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(it.looks).toBeGreaterThan(50);
  it.n += 1;
  await vi.advanceTimersByTimeAsync(50);
  expect(heard).toEqual(["work", "cancel", "runs", "feed"]);
});

test("who tells and leaves is gone only when all of it is written", async () => {
  const written: (() => void)[] = [];
  const query = () => new Promise<void>((resolve) => written.push(resolve));
  const hints = new Hints({ query } as unknown as Pool);
  hints.tell("work");
  hints.tell("cancel");
  let isGone = false;
  const closing = hints.close().then(() => {
    isGone = true;
  });
  // Both are under way, without waiting for the moment in which hints are coalesced.
  expect(written).toHaveLength(2);
  written[1]?.();
  await vi.advanceTimersByTimeAsync(100);
  expect(isGone).toBe(false);
  written[0]?.();
  await closing;
});
